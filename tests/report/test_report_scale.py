"""Axes and labels: round marks around the data."""

import math

import pytest

from superfed.report.numbers import amount, listed, percent
from superfed.report.scale import Axis, round_axis


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([74.6, 99.9], (70, 75, 80, 85, 90, 95, 100)),
        ([3, 97], (0, 20, 40, 60, 80, 100)),
        ([50, 130], (50, 60, 70, 80, 90, 100)),  # a band may reach beyond what can be
        ([98.9, 99.6], (98.8, 99, 99.2, 99.4, 99.6)),
        ([100, 100], (99, 100)),
        ([0], (0, 1)),
        ([math.nan], (0, 1)),
    ],
)
def test_marks_are_round_and_hold_the_data(values: list[float], ticks: tuple[float, ...]) -> None:
    axis = round_axis(values, limits=(0, 100))
    assert axis.ticks == pytest.approx(ticks)
    assert (axis.low, axis.high) == (axis.ticks[0], axis.ticks[-1])


def test_rounds_have_no_halves() -> None:
    assert round_axis([0, 3], smallest_step=1).ticks == (0, 1, 2, 3)


def test_what_lies_beyond_an_axis_is_put_at_its_end() -> None:
    axis = Axis(50, 100, ())
    assert [axis.share(value) for value in (40, 50, 75, 100, 110)] == [0, 0, 0.5, 1, 1]


def test_numbers_as_text() -> None:
    assert percent(0.98765) == "98.77"
    assert percent(math.nan) == percent(None) == "–"
    assert [amount(n) for n in (12, 44_168_000, 2.5e9, 3e15)] == ["12 B", "44.2 MB", "2.5 GB", "3,000.0 TB"]
    assert [listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
