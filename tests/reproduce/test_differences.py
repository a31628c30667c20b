"""Whether two sets of accuracies are apart: by seeds where there are enough, else by clients."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from superfed.reproduce.questions.difference import Difference, chance, paired, unpaired

RNG = np.random.default_rng(0)
BASE = RNG.normal(90, 8, size=(3, 400))


def by_seed(values: NDArray[np.float64]) -> dict[int, NDArray[np.float64]]:
    return dict(enumerate(values))


def test_a_small_gain_of_every_client_is_seen_only_in_pairs() -> None:
    better = BASE[:1] + 0.5 + RNG.normal(0, 1, size=(1, 400))
    alike, other = paired(by_seed(better), by_seed(BASE[:1])), unpaired(by_seed(better), by_seed(BASE[:1]))
    assert alike is not None
    assert other is not None
    assert alike.points == pytest.approx(other.points)
    assert (alike.seen, other.seen) == (True, False)
    assert alike.by == other.by == "clients"


def test_a_paired_test_over_clients_is_students() -> None:
    found = paired({0: np.array([1.0, 2.0, 3.0, 6.0])}, {0: np.zeros(4)})
    assert found is not None
    assert found.points == 3.0
    # t = 3 / (2.1602 / 2) = 2.7775 with 3 degrees of freedom
    assert found.p == pytest.approx(0.0691, abs=2e-4)


def test_welch_counts_the_degrees_of_the_smaller_side() -> None:
    """t = 10 / √(2 + 1/3) = 6.547; 3 values have 2 degrees of freedom, and 10 would have made p far smaller."""
    large = np.array([0.0, *[2.0, -2.0] * 4, 0.0])
    few = np.array([10 - 6**0.5, 10.0, 10 + 6**0.5])
    error = np.sqrt(few.var(ddof=1) / 3 + large.var(ddof=1) / 10)
    found = unpaired({0: few}, {0: large})
    assert found is not None
    assert found.p == pytest.approx(1 - (10 / error) / np.sqrt(2 + (10 / error) ** 2), rel=1e-6)


def test_from_three_seeds_on_it_is_the_spread_between_seeds_that_counts() -> None:
    """The same gain in all clients, but not the same with every seed."""
    gains = np.array([[3.0], [-2.0], [1.0]])
    two, three = (paired(by_seed((BASE + gains)[:n]), by_seed(BASE[:n])) for n in (2, 3))
    assert two is not None
    assert three is not None
    assert (two.by, three.by) == ("clients", "seeds")
    assert two.seen
    assert not three.seen
    assert three.points == pytest.approx(2 / 3)


def test_only_seeds_that_both_have_are_compared() -> None:
    found = paired({0: np.array([1.0, 2.0]), 1: np.array([50.0, 50.0])}, {0: np.zeros(2), 2: np.zeros(2)})
    assert found is not None
    assert found.points == 1.5
    assert paired({0: np.zeros(2)}, {1: np.zeros(2)}) is None
    assert unpaired({}, {0: np.zeros(2)}) is None


@pytest.mark.parametrize("test", [paired, unpaired])
def test_one_run_is_measured_against_the_spread_of_several(test: Callable[..., Difference | None]) -> None:
    """All clients of the one run are 6 points better than those of the seed it shares, where seeds differ by as much."""
    several = {0: np.linspace(81.9, 82.1, 30), 1: np.full(30, 86.0), 2: np.full(30, 90.0)}
    one = {0: several[0] + 6}
    found, turned = test(one, several), test(several, one)
    assert found is not None
    assert turned is not None
    assert (found.points, turned.points) == pytest.approx((2.0, -2.0))
    # t = 2 / (4 √(1/3 + 1)) = 0.4330 with 2 degrees of freedom: p = 1 - t / √(2 + t²)
    assert found.p == turned.p
    assert found.p == pytest.approx(0.7073, abs=1e-4)
    assert found.by == turned.by == "seeds"


def test_seeds_that_are_alike_by_chance_are_not_enough() -> None:
    """0.05 points are far out of a spread of 0.001 between seeds, and not out of one of 2 over clients."""
    several = {seed: np.full(100, 99.0 + seed / 1000) for seed in range(3)}
    one = {0: several[0] + 0.05 + RNG.normal(0, 2, size=100)}
    found, of_clients = paired(one, several), paired(one, {0: several[0]})
    assert found is not None
    assert of_clients is not None
    assert found.p == of_clients.p
    assert not found.seen


def test_where_no_seed_is_shared_clients_must_show_it_too() -> None:
    several = {seed: np.linspace(80, 98, 50) + seed / 1000 for seed in range(3)}
    found = paired({7: np.linspace(80.1, 98.1, 50)}, several)
    assert found is not None
    assert found.points == pytest.approx(0.099)
    assert found.p is not None
    assert found.p > 0.9


def test_what_points_elsewhere_makes_nothing_sure() -> None:
    found = Difference(1.0, 0.01, "seeds")
    assert found.no_surer_than(Difference(0.2, 0.03, "clients")) == Difference(1.0, 0.03, "seeds")
    assert found.no_surer_than(Difference(0.2, 0.001, "clients")) == found
    assert found.no_surer_than(Difference(-0.2, 0.001, "clients")).p == 1.0


def test_seeds_need_not_be_shared_if_one_side_has_a_spread() -> None:
    found = paired({7: np.full(2, 5.0)}, {seed: np.full(2, float(seed)) for seed in range(3)})
    assert found is not None
    assert found.points == 4.0
    nobody = {7: np.full(2, float("nan"))}
    assert paired(nobody, {seed: np.full(2, float(seed)) for seed in range(3)}) is None
    assert unpaired(nobody, {seed: np.full(2, float(seed)) for seed in range(3)}) is None


def test_clients_without_test_samples_do_not_count() -> None:
    nan = float("nan")
    found = paired({0: np.array([1.0, nan, 3.0])}, {0: np.array([0.0, 5.0, 0.0])})
    assert found is not None
    assert found.points == 2.0
    other = unpaired({0: np.array([1.0, nan])}, {0: np.array([0.0, 0.0])})
    assert other == Difference(1.0, None, "clients")  # one client has no spread


def test_what_never_varies_is_certain() -> None:
    same = paired({0: np.ones(3)}, {0: np.ones(3)})
    other = paired({0: np.ones(3)}, {0: np.zeros(3)})
    assert (same, other) == (Difference(0.0, 1.0, "clients"), Difference(1.0, 0.0, "clients"))


def test_the_largest_of_several_is_less_surprising() -> None:
    found = Difference(1.0, 0.02, "clients")
    assert found.seen
    assert not found.among(3).seen
    assert found.among(100).p == 1.0
    assert Difference(1.0, None, "clients").among(3).p is None


def test_in_words() -> None:
    assert Difference(-0.456, 0.0314, "clients").words == "-0.46 points (p = 0.031 over clients)"
    assert Difference(-0.456, 0.0314, "seeds").further == "-0.46 (p = 0.031)"
    assert Difference(-0.456, None, "clients").further == "-0.46 (p unknown)"
    assert Difference(0.5, 1e-9, "clients").inside == "+0.50, p < 0.001 over clients"
    assert Difference(0.5, 0.01, "seeds").marked == "+0.50*"
    assert Difference(0.5, 0.01, "clients").marked == "+0.50°"
    assert Difference(0.5, 0.05, "seeds").marked == "+0.50"
    assert chance(None) == "p unknown"


def test_several_seeds_that_are_not_shared_count_on_both_sides() -> None:
    """t = 10 / √((1 + 9) / 2 · 2/3) = 5.477 with 4 degrees of freedom, whichever side comes first."""
    narrow = {seed: np.full(4, 90.0 + seed - 1) for seed in (0, 1, 2)}
    wide = {seed: np.full(4, 80.0 + 3 * (seed - 11)) for seed in (10, 11, 12)}
    found, turned = paired(narrow, wide), paired(wide, narrow)
    assert found is not None
    assert turned is not None
    assert (found.points, turned.points) == pytest.approx((10.0, -10.0))
    assert found.p == turned.p == pytest.approx(0.00541, abs=1e-4)
