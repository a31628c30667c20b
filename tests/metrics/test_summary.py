"""One number per client, told in a few."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.metrics.summary import summarise

NAMES = ("mean", "std", "min", "max", "worst10")


def test_by_hand() -> None:
    values = np.array([0.9, 0.1, 0.5, 0.5])
    assert summarise(values) == pytest.approx(
        {"mean": 0.5, "std": math.sqrt(0.08), "min": 0.1, "max": 0.9, "worst10": 0.1}
    )


def test_the_spread_is_that_of_the_population() -> None:
    assert summarise(np.array([0.0, 1.0]))["std"] == 0.5


@pytest.mark.parametrize(
    ("clients", "worst"),
    [(1, 1), (9, 1), (10, 1), (14, 1), (16, 2), (20, 2), (100, 10), (104, 10), (106, 11)],
)
def test_the_worst_are_a_tenth_of_the_clients_and_at_least_one(clients: int, worst: int) -> None:
    values = np.arange(clients, dtype=np.float64)
    shuffled = np.random.default_rng(0).permutation(values)
    assert summarise(shuffled)["worst10"] == pytest.approx(values[:worst].mean())
    assert summarise(shuffled, higher_is_better=False)["worst10"] == pytest.approx(values[-worst:].mean())


def test_clients_without_a_value_do_not_count() -> None:
    values = np.array([math.nan, 0.2, math.nan, 0.4])
    assert summarise(values) == summarise(np.array([0.2, 0.4]))


@pytest.mark.parametrize("values", [[], [math.nan], [math.nan] * 3])
def test_nobody_has_a_value(values: list[float]) -> None:
    found = summarise(np.array(values, dtype=np.float64))
    assert tuple(found) == NAMES
    assert all(math.isnan(value) for value in found.values())


def test_an_infinite_loss_is_told_without_a_warning() -> None:
    found = summarise(np.array([1.0, math.inf]))
    assert (found["mean"], found["min"], found["max"]) == (math.inf, 1.0, math.inf)
    assert math.isnan(found["std"])


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=40))
@settings(deadline=None)
def test_the_few_numbers_are_in_order(values: list[float]) -> None:
    found = summarise(np.array(values))
    assert found["min"] == min(values)
    assert found["max"] == max(values)
    assert found["min"] - 1e-12 <= found["worst10"] <= found["mean"] + 1e-12
    assert found["mean"] <= found["max"] + 1e-12
    assert all(type(value) is float for value in found.values())
