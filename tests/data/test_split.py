"""How a client's samples are split, above all when there are few."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superfed.core.errors import SettingError
from superfed.core.random import stream
from superfed.data.split import Sizes, Split

FRACTIONS = st.floats(0, 1, exclude_min=True, exclude_max=True)


@pytest.mark.parametrize(
    ("num_samples", "test_fraction", "validation_fraction", "expected"),
    [
        (1200, 0.2, 0, Sizes(960, 0, 240)),
        (1200, 0.2, 0.1, Sizes(864, 96, 240)),
        (500, 0.2, 0.1, Sizes(360, 40, 100)),
        # Halves go up, as the fraction is written and not as binary has it: .29 of 50 is 14.5.
        (50, 0.29, 0, Sizes(35, 0, 15)),
        (12, 0.2, 0, Sizes(10, 0, 2)),
        (13, 0.2, 0, Sizes(10, 0, 3)),
        # Tiny clients: training first, then test, then validation.
        (1, 0.2, 0.1, Sizes(1, 0, 0)),
        (2, 0.2, 0.1, Sizes(1, 0, 1)),
        (3, 0.2, 0.1, Sizes(1, 1, 1)),
        (3, 0.2, 0, Sizes(2, 0, 1)),
        (4, 0.2, 0.1, Sizes(2, 1, 1)),
        (10, 0.2, 0.1, Sizes(7, 1, 2)),
        # Greedy fractions leave the others their one.
        (1, 0.99, 0.99, Sizes(1, 0, 0)),
        (2, 0.99, 0.99, Sizes(1, 0, 1)),
        (10, 0.99, 0.99, Sizes(1, 1, 8)),
        (10, 0.99, 0, Sizes(1, 0, 9)),
    ],
)
def test_sizes(num_samples: int, test_fraction: float, validation_fraction: float, expected: Sizes) -> None:
    assert Split(test_fraction, validation_fraction).sizes(num_samples) == expected


@given(num_samples=st.integers(1, 5000), test=FRACTIONS, validation=st.one_of(st.just(0.0), FRACTIONS))
def test_the_rules_for_tiny_clients_hold_for_all(num_samples: int, test: float, validation: float) -> None:
    sizes = Split(test, validation).sizes(num_samples)
    assert sum(sizes) == num_samples
    assert sizes.train >= 1
    assert (sizes.test >= 1) == (num_samples >= 2)
    assert (sizes.validation >= 1) == (num_samples >= 3 and validation > 0)
    room = num_samples - 2
    if 1 <= num_samples * test <= room:
        assert abs(sizes.test - num_samples * test) <= 0.5 + 1e-6


@given(num_samples=st.integers(1, 300), validation=st.sampled_from([0.0, 0.1, 0.5]), seed=st.integers(0, 100))
def test_every_row_is_in_exactly_one_part(num_samples: int, validation: float, seed: int) -> None:
    split = Split(0.2, validation)
    rows = split.rows(num_samples, stream(seed, "split"))
    assert sorted(np.concatenate(rows).tolist()) == list(range(num_samples))
    assert tuple(map(len, rows)) == split.sizes(num_samples)


def test_rows_are_shuffled_and_repeat() -> None:
    one, again, other = (Split().rows(100, stream(seed, "split")) for seed in (0, 0, 1))
    assert one.test.tolist() == again.test.tolist()
    assert one.test.tolist() != other.test.tolist()
    assert sorted(one.test.tolist()) != list(range(20))


def test_the_test_rows_do_not_depend_on_the_validation_fraction() -> None:
    without, with_some = (Split(0.2, fraction).rows(100, stream(0, "split")) for fraction in (0, 0.3))
    assert without.test.tolist() == with_some.test.tolist()
    assert set(without.train.tolist()) == {*with_some.train.tolist(), *with_some.validation.tolist()}


@pytest.mark.parametrize(
    ("num_samples", "cut_test", "cut_validation", "expected"),
    [
        (100, False, True, Sizes(90, 10, 0)),
        (100, True, False, Sizes(80, 0, 20)),
        (100, False, False, Sizes(100, 0, 0)),
        (2, False, True, Sizes(1, 1, 0)),
        (1, False, True, Sizes(1, 0, 0)),
    ],
)
def test_what_a_client_brings_is_not_cut(
    num_samples: int, cut_test: bool, cut_validation: bool, expected: Sizes
) -> None:
    assert Split().sizes(num_samples, cut_test=cut_test, cut_validation=cut_validation) == expected


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"test_fraction": 0}, "test_fraction: must be above 0 and below 1, got 0.0"),
        ({"test_fraction": 1.0}, "test_fraction: must be above 0 and below 1, got 1.0"),
        ({"test_fraction": float("nan")}, "test_fraction: must be a finite number, got nan"),
        ({"validation_fraction": -0.1}, "validation_fraction: must be at least 0 and below 1, got -0.1"),
        ({"validation_fraction": 1}, "validation_fraction: must be at least 0 and below 1, got 1.0"),
        ({"validation_fraction": None}, "validation_fraction: must be a finite number, got None"),
    ],
)
def test_a_bad_fraction_is_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        Split(**settings)
    assert str(caught.value) == sentence
