"""Settings of methods: what they mean, and the sentence for what cannot be meant."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.algorithms import FedAvg, FedProx, SuPerFed
from superfed.core.algorithm import Algorithm
from superfed.core.errors import SettingError, UserError, require

BEYOND = "is beyond the last round; give a fraction of the rounds (0.4) or a whole round number (40)"


@pytest.mark.parametrize(
    ("start", "rounds", "expected"),
    [
        (0.4, 100, 40),
        (0.29, 100, 29),  # 0.29 · 100 is 28.999… in binary
        (0.57, 100, 57),
        (0.0, 100, 0),
        (1.0, 100, 100),
        (0.5, 3, 1),
        (0.999, 100, 99),
        (0, 100, 0),
        (1, 100, 1),
        (40, 100, 40),
        (100, 100, 100),
    ],
)
def test_personalisation_starts_at_a_fraction_or_a_round(start: float, rounds: int, expected: int) -> None:
    method = SuPerFed(start=start)
    method.check(rounds)
    assert method.start_round(rounds) == expected
    flags = [method.round_values(r, rounds, 0.5)["personalised"] for r in range(rounds)]
    assert flags == [0.0] * expected + [1.0] * (rounds - expected)


@given(percent=st.integers(0, 100), rounds=st.integers(1, 2000))
@settings(deadline=None)
def test_a_fraction_with_two_decimals_is_taken_as_written(percent: int, rounds: int) -> None:
    assert SuPerFed(start=percent / 100).start_round(rounds) == percent * rounds // 100


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: SuPerFed(mu=-0.1), "mu: must be 0 or more, not -0.1"),
        (lambda: SuPerFed(mu=float("nan")), "mu: must be 0 or more, not nan"),
        (lambda: SuPerFed(nu=-1), "nu: must be 0 or more, not -1"),
        (lambda: SuPerFed(mixing="both"), "mixing: must be 'model' or 'layer', not 'both'"),  # type: ignore[arg-type]
        (lambda: SuPerFed(start=-1), "start: must be 0 or more, not -1"),
        (lambda: SuPerFed(start=-0.5), "start: must be 0 or more, not -0.5"),
        (lambda: SuPerFed(start=1.5), f"start: 1.5 {BEYOND}"),
        (lambda: SuPerFed(start=40.0), f"start: 40.0 {BEYOND}"),
        (lambda: FedProx(mu=-1e-9), "mu: must be 0 or more, not -1e-09"),
        (lambda: FedProx(mu=float("nan")), "mu: must be 0 or more, not nan"),
    ],
)
def test_a_bad_setting_is_a_sentence(make: Callable[[], Algorithm], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        make()
    assert str(caught.value) == sentence


def test_a_start_beyond_the_last_round_is_found_when_the_rounds_are_known() -> None:
    SuPerFed(start=50).check(50)
    with pytest.raises(SettingError) as caught:
        SuPerFed(start=51).check(50)
    assert str(caught.value) == "start: round 51 is beyond the last of 50 rounds"


def test_titles_tell_the_variants_apart() -> None:
    assert [m.title for m in (FedAvg(), FedProx(), SuPerFed(), SuPerFed(mixing="layer"))] == [
        "FedAvg",
        "FedProx",
        "SuPerFed-MM",
        "SuPerFed-LM",
    ]


def test_a_setting_is_named_by_whoever_knows_where_it_sits() -> None:
    error = SettingError("mu", "must be 0 or more, not -1")
    assert isinstance(error, UserError)
    assert isinstance(error, ValueError)
    assert str(error.under("algorithm")) == "algorithm.mu: must be 0 or more, not -1"
    assert str(error.under("algorithm").under("run")) == "run.algorithm.mu: must be 0 or more, not -1"
    assert str(error.under("")) == str(error)


def test_what_is_required_and_holds_says_nothing() -> None:
    require(True, "key", "never")
    with pytest.raises(SettingError) as caught:
        require(False, "key", "was not so")
    assert (caught.value.key, caught.value.problem) == ("key", "was not so")
