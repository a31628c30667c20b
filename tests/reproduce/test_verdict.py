"""When one of our numbers counts as the published one."""

import random

import pytest
from scipy.stats import ttest_rel

from superfed.reproduce.verdict import Score, verdict, verdict_of_two


def scores(*means: float, std: float | None = 10.0, clients: int = 100) -> list[Score]:
    return [Score(mean, std, clients) for mean in means]


def test_several_seeds_are_measured_by_their_spread() -> None:
    near = verdict(scores(90.0, 91.0, 92.0), Score(92.0, 5.0, 100))
    assert (near.word, near.by) == ("agrees", "seeds")
    assert near.difference == pytest.approx(-1.0)
    far = verdict(scores(90.0, 90.1, 90.2), Score(92.0, 5.0, 100))
    assert (far.word, far.by) == ("lower", "seeds")
    assert "ours is lower (two-sided t test between seeds" in far.sentence()


def test_one_seed_is_measured_by_the_spread_over_clients() -> None:
    """With a standard deviation of 10 and 100 clients each, 2.8 points are the limit."""
    published = Score(80.0, 10.0, 100)
    assert verdict(scores(82.7), published).word == "agrees"
    assert verdict(scores(82.9), published).word == "higher"
    assert verdict(scores(77.1), published).word == "lower"
    assert verdict(scores(82.9), published).by == "clients"


def test_two_seeds_are_too_few_for_a_spread_and_narrow_our_side() -> None:
    published = Score(80.0, 10.0, 100)
    assert verdict(scores(82.5, 82.5), published).by == "clients"
    assert verdict(scores(82.5, 82.5), published).word == "higher"  # 2.4 points are the limit now


def test_without_a_spread_nothing_is_said() -> None:
    found = verdict(scores(90.0), Score(80.0, None, 100))
    assert (found.word, found.p) == ("unknown", None)
    assert found.sentence() == "+10.00: nothing to measure it against"
    assert verdict(scores(90.0, std=None), Score(80.0, 1.0, 100)).word == "unknown"


def test_equal_seeds_leave_no_doubt_beyond_the_rounding_of_print() -> None:
    equal = scores(90.0, 90.0, 90.0, std=None)
    assert verdict(equal, Score(90.0, 1.0, 100)).word == "agrees"
    assert verdict(equal, Score(90.1, 1.0, 100)).word == "lower"
    assert verdict(scores(*[0.1 + 0.2] * 3, std=None), Score(0.3, None, 100)).word == "agrees"


def test_seeds_that_are_alike_by_chance_do_not_do_where_clients_show_nothing() -> None:
    alike, published = (99.225, 99.217, 99.217), Score(99.31, 1.1, 100)
    assert verdict(scores(*alike, std=None), published).word == "lower"
    found = verdict(scores(*alike, std=1.0), published)
    assert (found.word, found.by) == ("agrees", "seeds")
    assert found.p == pytest.approx(verdict(scores(alike[0], std=1.0), published).p, abs=0.2)


def test_it_is_wrong_about_as_often_as_it_says() -> None:
    """Runs of one and the same distribution: a twentieth is called different."""
    rng = random.Random(0)

    def share(seeds: int, spread: float | None = None) -> float:
        wrong = 0
        for _ in range(4000):
            means = [rng.gauss(90, 1) for _ in range(seeds)]
            wrong += verdict(scores(*means, std=spread), Score(rng.gauss(90, 1), 5.0, 100)).word != "agrees"
        return wrong / 4000

    assert 0.04 < share(3) < 0.06
    assert 0.04 < share(20) < 0.06
    assert share(3, spread=10.0) < share(3)  # clients must show it too


def seeds(*means: float, std: float = 3.0) -> list[Score]:
    return [Score(mean, std, 500, seed) for seed, mean in enumerate(means)]


def test_two_methods_are_compared_seed_by_seed() -> None:
    """Seeds differ by much more than the two methods do on any of them."""
    ours, others = seeds(90.0, 92.0, 94.0), seeds(89.0, 91.1, 92.9)
    found = verdict_of_two(ours, others)
    assert found.difference == pytest.approx(1.0)
    assert found.p == pytest.approx(ttest_rel([90.0, 92.0, 94.0], [89.0, 91.1, 92.9]).pvalue)
    assert (found.word, found.by) == ("higher", "seeds")
    assert verdict(ours, Score(91.0, 3.0, 500)).word == "agrees"


def test_two_methods_must_differ_between_clients_too() -> None:
    """The seeds' differences are alike to a hundredth, and a tenth of what clients can tell."""
    found = verdict_of_two(seeds(90.01, 92.0, 94.0), seeds(89.99, 91.98, 93.98))
    assert found.word == "agrees"
    assert found.p is not None
    assert found.p > 0.5


def test_only_seeds_that_both_have_are_compared() -> None:
    ours = [*seeds(90.0, 92.0, 94.0), Score(50.0, 3.0, 500, 7)]
    assert verdict_of_two(ours, seeds(89.0, 91.1, 92.9)).difference == pytest.approx(1.0)
    few = verdict_of_two(seeds(90.0, 92.0, 94.0), seeds(89.0))
    assert few == verdict(seeds(90.0, 92.0, 94.0), Score(89.0, 3.0, 500))
