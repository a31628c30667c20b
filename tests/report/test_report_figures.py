"""Fairness, barriers and surfaces: numbers done by hand."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_folders import whole_run
from report_folders import mixing_run

from superfed.report.barrier import excess, path
from superfed.report.bins import bins_of, calibration
from superfed.report.client_scores import client_scores
from superfed.report.comparison import compare
from superfed.report.fairness import fairness, gini
from superfed.report.page.build import page
from superfed.report.page.surfaces import FILE, surfaces_in
from superfed.store.files import read_json, write_json
from superfed.store.layout import RunFolder


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1, 1, 1], 0), ([0, 0, 1], 2 / 3), ([0, 1], 0.5), ([1, 2, 3, 4], 0.25), ([0, 0], 0), ([0.7], 0)],
)
def test_gini(values: list[float], expected: float) -> None:
    assert gini(np.array(values, dtype=np.float64)) == pytest.approx(expected, abs=1e-12)


def test_gini_is_the_mean_difference_over_twice_the_mean() -> None:
    values = np.sort(np.random.default_rng(0).random(50))
    plain = np.abs(values[:, None] - values[None]).mean() / (2 * values.mean())
    assert gini(values) == pytest.approx(plain)


def test_fairness_agrees_with_the_summary(tmp_path: Path) -> None:
    run = whole_run(tmp_path / "a", 31)
    scores = client_scores(run)
    assert scores is not None
    found = fairness([scores])
    assert found is not None
    stored = read_json(run.summary_file)["readings"]["validated"]["top1"]
    assert found.worst_tenth == pytest.approx(stored["worst10"])
    assert found.lowest == pytest.approx(stored["min"])
    assert found.median == pytest.approx(np.median(scores.validated))


def test_nobody_with_test_samples_is_no_fairness(tmp_path: Path) -> None:
    scores = client_scores(whole_run(tmp_path / "a", 3))
    assert scores is not None
    assert fairness([scores.some(np.array([2]))]) is None


def test_a_barrier_is_what_rises_above_the_straight_line() -> None:
    grid = np.array([0, 0.5, 1])
    assert excess(grid, np.array([[1.0, 3.0, 2.0]])).tolist() == [[0, 1.5, 0]]
    assert excess(grid, np.array([[1.0, 1.0, 2.0]])).tolist() == [[0, -0.5, 0]]


@pytest.mark.parametrize(("middle", "barrier", "at"), [(3.0, 1.5, 0.5), (1.2, 0.0, 0.0)])
def test_the_path_of_a_run(tmp_path: Path, middle: float, barrier: float, at: float) -> None:
    run = mixing_run(tmp_path / "a", [(0.9, 0.1)] * 5, [(0.9, 0.1)] * 3)
    results = read_json(run.summary_file)
    for point, loss in zip(results["by_lambda"], (1.0, middle, 2.0), strict=True):
        point["loss"]["mean"] = loss
    write_json(run.summary_file, results)
    members = compare([run]).rows[0].members
    found = path(members, [None])
    assert found is not None
    assert found.barrier == pytest.approx(barrier)
    assert (found.at, found.of_clients, found.without) == (at, None, None)
    results["by_lambda"][1]["loss"]["mean"] = None  # it was not finite
    write_json(run.summary_file, results)
    assert path(compare([run]).rows[0].members, [None]) is None


def test_calibration_of_bins_by_hand() -> None:
    together = np.zeros((15, 3))
    together[14] = 3, 2.7, 3
    together[7] = 1, 0.5, 0
    assert calibration(together) == pytest.approx(((0.3 + 0.5) / 4, 0.5))
    assert all(math.isnan(value) for value in calibration(np.zeros((15, 3))))


def test_bins_that_are_none_are_not_shown(tmp_path: Path) -> None:
    run = whole_run(tmp_path / "a", 5)
    assert bins_of(run) is not None
    run.bins.write_bytes(run.readings.read_bytes())
    assert bins_of(run) is None


def surface(title: str) -> dict[str, Any]:
    rows = [[float(x * x + y * y) + 0.1 for x in range(5)] for y in range(4)]
    rows[0][0] = None  # type: ignore[call-overload]
    names = ("global model", "local model of client 3", "local model of client 7")
    corners = [
        {"name": name, "x": x, "y": y, "loss": 0.5, "top1": 0.9}
        for name, x, y in zip(names, (0.0, 4.0, 2.0), (0.0, 0.0, 3.0), strict=True)
    ]
    return {"title": title, "window": [0, 4, 0, 3], "loss": rows, "corners": corners, "mixes": True}


def test_surfaces_are_drawn_where_they_are_stored(tmp_path: Path) -> None:
    run = whole_run(tmp_path / "a", 5)
    assert surfaces_in(run) == []
    assert 'id="surfaces"' not in page(compare([run]))
    write_json(run.path / FILE, {"schema": 1, "surfaces": {"personal": surface("A<b>"), "updates": surface("B")}})
    (first, terrain), (second, _) = surfaces_in(run)
    assert (first, second) != ("personal", "updates")
    assert terrain.values.shape == (4, 5)
    assert math.isnan(terrain.values[0, 0])
    assert terrain.xs.tolist() == [0, 1, 2, 3, 4]
    assert [spot.name for spot in terrain.spots] == ["global model", "client 3", "client 7"]
    assert terrain.lines == [(0, 1), (0, 2)]
    text = page(compare([run]))
    assert text.count('aria-label="Contour plot of loss: ') == 2
    assert "A<b>" not in text


@pytest.mark.parametrize(
    "stored", [{}, {"surfaces": []}, {"surfaces": {"x": {}}}, {"surfaces": {"x": surface("y") | {"loss": [1]}}}, []]
)
def test_surfaces_that_cannot_be_read_are_left_out(tmp_path: Path, stored: Any) -> None:
    run = RunFolder(tmp_path)
    write_json(run.path / FILE, stored)
    assert surfaces_in(run) == []
