"""How good one client's personal models are, at every λ, on its validation and its test samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from superfed.core.samples import Samples
from superfed.core.state import State
from superfed.engine.task import Task, as_inputs
from superfed.metrics.scores import score

CHUNK = 1024
NO_LAMBDA = (float("nan"),)
"""The λ of methods whose personal model has none."""


@dataclass(frozen=True)
class ClientScores:
    """Each metric by λ, and how many samples it rests on."""

    lambdas: tuple[float, ...]
    num_validation: int
    num_test: int
    validation: Mapping[str, NDArray[np.float64]]
    test: Mapping[str, NDArray[np.float64]]


def lambda_grid(points: int) -> tuple[float, ...]:
    """Evenly spaced from 0, the federated model, to 1, the local one."""
    return tuple(i / (points - 1) for i in range(points))


def evaluate_client(task: Task, client: int, kept: State, sent: State, lambdas: Sequence[float]) -> ClientScores:
    """Scores of W(λ) for every λ; a method that does not mix has one model, and one score."""
    grid = tuple(lambdas) if task.algorithm.mixes else NO_LAMBDA
    validation, test = task.data.validation(client), task.data.test(client)
    results = [_scores(task, samples, kept, sent, grid) for samples in (validation, test)]
    return ClientScores(grid, len(validation), len(test), results[0], results[1])


def _scores(
    task: Task, samples: Samples, kept: State, sent: State, grid: Sequence[float]
) -> Mapping[str, NDArray[np.float64]]:
    device = next(iter(sent.values())).device
    x = as_inputs(samples.x, task.model).to(device)
    outputs = []
    with torch.no_grad():
        for lam in grid:
            position = torch.tensor(lam, dtype=task.model.dtype, device=device)
            w = task.algorithm.personal_model(kept, sent, position, task.model)
            chunks = [task.model.apply(w, part) for part in torch.split(x, CHUNK)] if len(x) else []
            outputs.append(torch.cat(chunks).cpu() if chunks else torch.zeros(0, task.data.num_classes))
    return score(torch.stack(outputs).numpy(), samples.y.numpy(), task.schedule.batch_size)
