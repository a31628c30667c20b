"""Robust ways to one vector: against plain loops, and against clients that mean harm."""

import statistics

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from superfed.core.aggregation import (
    AGGREGATIONS,
    Aggregation,
    ClippedMean,
    GeometricMedian,
    Mean,
    Median,
    TrimmedMean,
)
from superfed.core.errors import SettingError
from superfed.core.maths import weighted_mean

ZERO = torch.zeros(4, dtype=torch.float64)
ROBUST: list[Aggregation] = [TrimmedMean(0.2), Median(), ClippedMean(), GeometricMedian()]


def rows_of(clients: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.normal(size=(clients, 4))), torch.from_numpy(rng.integers(1, 50, clients))


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 12), st.integers(0, 10**6))
def test_ranks_against_plain_loops(clients: int, seed: int) -> None:
    rows, weights = rows_of(clients, seed)
    columns = rows.T.tolist()
    assert torch.allclose(
        Median().center(rows, weights, ZERO), torch.tensor([statistics.median(c) for c in columns]).double()
    )
    for trim in (0.0, 0.1, 0.3, 0.49):
        cut = min(-int(-round(trim * clients, 9) // 1), (clients - 1) // 2)
        means = [statistics.fmean(sorted(c)[cut : clients - cut]) for c in columns]
        assert torch.allclose(TrimmedMean(trim).center(rows, weights, ZERO), torch.tensor(means).double())


def test_the_mean_is_the_mean_there_was() -> None:
    rows, weights = rows_of(7)
    assert torch.equal(Mean().center(rows, weights, ZERO), weighted_mean(rows, weights))


def test_short_changes_are_left_as_they_are_and_long_ones_shortened() -> None:
    around = torch.tensor([1.0, 0.0, 0.0, 0.0]).double()
    rows = around + torch.tensor([[0.5, 0, 0, 0], [0, 30.0, 0, 0]]).double()
    found = ClippedMean(2.0).center(rows, torch.ones(2), around)
    assert torch.allclose(found, around + torch.tensor([0.25, 1.0, 0, 0]).double())


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 9), st.integers(0, 10**6))
def test_no_point_near_the_geometric_median_is_nearer_to_all(clients: int, seed: int) -> None:
    rows, weights = rows_of(clients, seed)

    def total(point: Tensor) -> float:
        return float((weights * (rows - point).norm(dim=1)).sum())

    found = GeometricMedian(iterations=300).center(rows, weights, ZERO)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        assert total(found) <= total(found + 0.05 * torch.from_numpy(rng.normal(size=4))) + 1e-6


@pytest.mark.parametrize("how", ROBUST, ids=lambda how: type(how).__name__)
def test_one_of_ten_ruins_the_mean_and_not_these(how: Aggregation) -> None:
    honest, weights = rows_of(10)
    right = honest[1:].mean(dim=0)
    bad = honest.clone()
    bad[0] = -1e6
    weights = torch.full_like(weights, 10)
    assert (Mean().center(bad, weights, ZERO) - right).norm() > 1e5
    assert (how.center(bad, weights, ZERO) - right).norm() < 1.5


@pytest.mark.parametrize("how", [Mean(), *ROBUST], ids=lambda how: type(how).__name__)
def test_clients_that_agree_are_agreed_with(how: Aggregation) -> None:
    rows = torch.tensor([1.0, -2.0, 0.0, 5.0]).expand(6, 4)
    assert torch.allclose(how.center(rows, torch.arange(1, 7), torch.zeros(4)), rows[0])
    assert how.center(rows[:1], torch.ones(1), torch.zeros(4)).dtype == torch.float32


@pytest.mark.parametrize(
    ("name", "wrong", "sentence"),
    [
        ("trimmed_mean", {"trim": 0.5}, "trim: must be at least 0 and less than 0.5, not 0.5"),
        ("clipped_mean", {"bound": 0.0}, "bound: must be more than 0, or median, not 0.0"),
        ("geometric_median", {"iterations": 0}, "iterations: must be 1 or more, not 0"),
    ],
)
def test_settings_that_make_no_sense(name: str, wrong: dict[str, float], sentence: str) -> None:
    with pytest.raises(SettingError) as error:
        AGGREGATIONS[name](**wrong)
    assert str(error.value) == sentence
