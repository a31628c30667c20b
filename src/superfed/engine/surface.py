"""The loss and accuracy of every model on a piece of a plane, for some clients' samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.func import vmap

from superfed.core.samples import Samples
from superfed.core.vector import VectorModel
from superfed.engine.answer_room import answer_bytes
from superfed.engine.evaluate import chunks
from superfed.engine.fusing import evaluating
from superfed.engine.local import CPU
from superfed.engine.precision import products_in
from superfed.engine.task import Task, as_inputs
from superfed.metrics.plane import Grid, Plane
from superfed.metrics.scores import score

Part = Literal["train", "validation", "test"]
BUDGET = 2**32
"""Bytes that models and outputs computed together may take on a GPU."""


@dataclass(frozen=True)
class Heights:
    """Mean cross-entropy and share of right answers, over all samples alike, by row and column of a grid."""

    loss: NDArray[np.float64]
    top1: NDArray[np.float64]
    num_samples: int


def heights(
    task: Task,
    plane: Plane,
    grid: Grid,
    clients: Sequence[int],
    part: Part = "train",
    device: torch.device = CPU,
    together: int | None = None,
) -> Heights:
    """How high the plane lies at the points of the grid. A client with more samples counts for more.

    So many models are computed ``together``; without a number, one at a time on a CPU and as many as fit on a GPU.
    """
    model = task.model if device.type == "cpu" else task.model.to(device)
    pieces = [
        Samples(as_inputs(x, model).to(device), y)
        for samples in _sets(task, clients, part)
        for x, y in _pieces(samples)
    ]
    if together is None:
        together = _models_at_once(model, pieces, device) if device.type != "cpu" and model.batchable else 1
    plane = plane.to(device)
    places = [(float(x), float(y)) for y in grid.ys for x in grid.xs]
    found = []
    with torch.no_grad(), products_in("float32"):
        for start in range(0, len(places), together):
            models = torch.stack([plane.at(x, y) for x, y in places[start : start + together]])
            found.append(_sums(_outputs(model, models, pieces, device), pieces, len(models)))
    count = sum(len(piece) for piece in pieces)
    loss, top1 = np.concatenate(found, axis=1) / count if count else np.full((2, len(places)), np.nan)
    return Heights(loss.reshape(grid.shape), top1.reshape(grid.shape), count)


def _sets(task: Task, clients: Sequence[int], part: Part) -> list[Samples]:
    """The clients' samples; all in one where a network takes each sample by itself, so that its batches are large."""
    sets: list[Samples] = [getattr(task.data, part)(client) for client in clients]
    if not task.model.by_sample or not sets:
        return sets
    return [Samples(torch.cat([s.x for s in sets]), torch.cat([s.y for s in sets]))]


def _pieces(samples: Samples) -> Iterator[tuple[Tensor, Tensor]]:
    """As evaluation cuts them, so that batch statistics are the same here and there."""
    x = chunks(samples.x)
    return zip(x, torch.split(samples.y, [len(piece) for piece in x]), strict=True)


def _outputs(model: VectorModel, models: Tensor, pieces: Sequence[Samples], device: torch.device) -> Iterator[Tensor]:
    """For each piece the class scores [models, samples, classes]."""
    if len(models) == 1:
        network = evaluating(model, device)
        for piece in pieces:
            yield network(models[0], piece.x)[None]
        return
    lanes = model.for_lanes().to(device)
    for piece in pieces:
        yield vmap(lanes.apply)(models, piece.x.expand(len(models), *piece.x.shape))


def _sums(outputs: Iterator[Tensor], pieces: Sequence[Samples], num_models: int) -> NDArray[np.float64]:
    """Losses and right answers, summed over samples: [2, models]."""
    sums = np.zeros((2, num_models))
    for rows, piece in zip(outputs, pieces, strict=True):
        found = score(rows.cpu().numpy(), piece.y.numpy(), len(piece), brief=True)
        sums += np.stack([found["loss"], found["top1"]]) * len(piece)
    return sums


def _models_at_once(model: VectorModel, pieces: Sequence[Samples], device: torch.device) -> int:
    longest = max(pieces, key=len, default=None)
    return 1 if longest is None else max(BUDGET // answer_bytes(model, longest.x, device, len(longest)), 1)
