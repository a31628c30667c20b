"""Heights over a plane are what a plain loop over its points and the clients' samples finds."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from superfed.core.vector import VectorModel
from superfed.data.own import OwnData
from superfed.engine.evaluate import chunks
from superfed.engine.surface import Part, heights
from superfed.engine.task import Task
from superfed.metrics.plane import Grid, Plane
from superfed.models import ResNet
from support.toys import METHODS, toy_task


def plane_of(task: Task) -> Plane:
    return Plane.through(*(task.model.fresh(key) for key in (1, 2, 3)))


def plain(task: Task, plane: Plane, grid: Grid, clients: list[int], part: Part) -> tuple[Any, Any, int]:
    """One model after another, one client after another, each client's samples in the chunks of evaluation."""
    loss, right, count = np.zeros(grid.shape), np.zeros(grid.shape), 0
    for client in clients:
        samples = getattr(task.data, part)(client)
        count += len(samples)
        for row, y in enumerate(grid.ys):
            for column, x in enumerate(grid.xs):
                w = plane.origin + x * plane.u + y * plane.v
                parts = [task.model.apply(w, piece) for piece in chunks(samples.x)]
                scores = torch.cat(parts) if parts else torch.zeros(0, task.data.num_classes)
                loss[row, column] += float(F.cross_entropy(scores, samples.y, reduction="sum")) if parts else 0
                right[row, column] += int((scores.argmax(1) == samples.y).sum())
    return loss / count, right / count, count


@pytest.mark.parametrize("part", ["train", "validation", "test"])
@pytest.mark.parametrize("together", [None, 1, 4])
def test_against_a_plain_loop(part: Part, together: int | None) -> None:
    task = toy_task(METHODS["superfed"])
    plane = plane_of(task)
    grid, clients = plane.window().grid(5), [0, 2, 3]
    found = heights(task, plane, grid, clients, part, together=together)
    loss, top1, count = plain(task, plane, grid, clients, part)
    assert found.loss.shape == grid.shape
    np.testing.assert_allclose(found.loss, loss, atol=1e-12)
    np.testing.assert_allclose(found.top1, top1, atol=1e-12)
    assert found.num_samples == count


@pytest.mark.parametrize("together", [None, 3])
def test_a_network_that_uses_batch_statistics(monkeypatch: pytest.MonkeyPatch, together: int | None) -> None:
    """Clients are not mixed, and more than a chunk goes chunk by chunk, as evaluation has it."""
    monkeypatch.setattr("superfed.engine.evaluate.CHUNK", 8)
    rng = torch.Generator().manual_seed(0)
    clients = [
        (torch.rand(n, 1, 8, 8, generator=rng, dtype=torch.float64), torch.randint(0, 3, (n,), generator=rng))
        for n in (14, 40)
    ]
    model = VectorModel(ResNet(depth=8, channels=2).builder((1, 8, 8), 3), dtype=torch.float64)
    assert not model.by_sample
    base = toy_task(METHODS["superfed"])
    schedule = replace(base.schedule, clients_per_round=2)
    task = Task(base.algorithm, model, OwnData.from_clients(clients, num_classes=3), schedule)
    assert len(task.data.train(1)) > 16
    plane = plane_of(task)
    grid = plane.window().grid(3)
    found = heights(task, plane, grid, [0, 1], together=together)
    loss, top1, count = plain(task, plane, grid, [0, 1], "train")
    np.testing.assert_allclose(found.loss, loss, atol=1e-10)
    np.testing.assert_allclose(found.top1, top1, atol=1e-12)
    assert found.num_samples == count


def test_more_samples_than_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    task = toy_task(METHODS["fedavg"])
    plane = plane_of(task)
    grid = plane.window().grid(3)
    whole = heights(task, plane, grid, range(6))
    monkeypatch.setattr("superfed.engine.evaluate.CHUNK", 5)
    np.testing.assert_allclose(heights(task, plane, grid, range(6)).loss, whole.loss, atol=1e-12)


def test_float32_models_stay_float32() -> None:
    task = toy_task(METHODS["fedavg"])
    model = VectorModel(lambda: torch.nn.Linear(6, 3), dtype=torch.float32)
    single = replace(task, model=model)
    found = heights(single, plane_of(single), Grid(np.array([0.0]), np.array([0.0])), [3])
    expected = F.cross_entropy(model.apply(model.fresh(1), task.data.train(3).x.float()), task.data.train(3).y)
    assert found.loss[0, 0] == pytest.approx(float(expected), rel=1e-5)


def test_without_samples_there_is_no_height() -> None:
    task = toy_task(METHODS["fedavg"])
    plane = plane_of(task)
    found = heights(task, plane, plane.window().grid(3), [])
    assert np.isnan(found.loss).all()
    assert found.num_samples == 0


def test_a_model_that_explodes_is_infinitely_high() -> None:
    task = toy_task(METHODS["fedavg"])
    plane = plane_of(task)
    found = heights(task, plane, Grid(np.array([0.0, np.inf]), np.array([0.0])), [3])
    assert np.isfinite(found.loss[0, 0])
    assert np.isinf(found.loss[0, 1])
    assert found.top1[0, 1] == 0
