"""How good one client's personal models are, at every λ, on its validation and its test samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from superfed.core.algorithm import Algorithm
from superfed.core.samples import Samples
from superfed.core.state import State
from superfed.engine.adapt import adapt
from superfed.engine.local import CPU
from superfed.engine.task import Task, as_inputs
from superfed.metrics.scores import score

CHUNK = 1024
NO_LAMBDA = (float("nan"),)
"""The λ of methods whose personal model has none."""


Scores = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class ClientScores:
    """Each metric by λ, and how many samples it rests on.

    Where the method chose a λ itself, ``own_lambda`` is it and ``own`` holds the test metrics there, one value each.
    """

    lambdas: tuple[float, ...]
    num_validation: int
    num_test: int
    validation: Scores
    test: Scores
    own_lambda: float | None = None
    own: Scores | None = None


def lambda_grid(points: int) -> tuple[float, ...]:
    """Evenly spaced from 0, the federated model, to 1, the local one."""
    return tuple(i / (points - 1) for i in range(points))


def grid_of(algorithm: Algorithm, lambdas: Sequence[float]) -> tuple[float, ...]:
    """The λ to look at: a method that does not mix has one model, and one score."""
    return tuple(lambdas) if algorithm.mixes else NO_LAMBDA


def evaluate_client(
    task: Task,
    client: int,
    kept: State,
    server: State,
    lambdas: Sequence[float],
    epochs: int = 0,
    device: torch.device = CPU,
) -> ClientScores:
    """Scores of W(λ) for every λ, after ``epochs`` of training for itself alone."""
    if epochs > 0:
        kept, server = adapt(task, client, kept, server, epochs, device)
    sent = task.algorithm.broadcast(server, task.model)
    grid = grid_of(task.algorithm, lambdas)
    validation, test = task.data.validation(client), task.data.test(client)
    on_validation, on_test = (_scores(task, samples, kept, sent, grid, device) for samples in (validation, test))
    chosen = task.algorithm.own_lambda(kept)
    if chosen is None:
        return ClientScores(grid, len(validation), len(test), on_validation, on_test)
    own_lambda = float(chosen)
    own = _scores(task, test, kept, sent, (own_lambda,), device)
    return ClientScores(grid, len(validation), len(test), on_validation, on_test, own_lambda, own)


def evaluate_arrival(task: Task, client: int, server: State, device: torch.device = CPU) -> ClientScores | None:
    """Scores of the global model on a client that has not trained; None where the method has no global model."""
    w = task.algorithm.global_model(server)
    if w is None:
        return None
    validation, test = task.data.validation(client), task.data.test(client)
    on_validation, on_test = (_score_models(task, samples, [w], device) for samples in (validation, test))
    return ClientScores(NO_LAMBDA, len(validation), len(test), on_validation, on_test)


def _scores(
    task: Task, samples: Samples, kept: State, sent: State, grid: Sequence[float], device: torch.device
) -> Scores:
    positions = [torch.tensor(lam, dtype=task.model.dtype, device=device) for lam in grid]
    models = [task.algorithm.personal_model(kept, sent, position, task.model) for position in positions]
    return _score_models(task, samples, models, device)


def _score_models(task: Task, samples: Samples, models: Sequence[Tensor], device: torch.device) -> Scores:
    x = as_inputs(samples.x, task.model).to(device)
    outputs = []
    with torch.no_grad():
        for w in models:
            parts = [task.model.apply(w, part) for part in chunks(x)]
            outputs.append(torch.cat(parts).cpu() if parts else torch.zeros(0, task.data.num_classes))
    return score(torch.stack(outputs).numpy(), samples.y.numpy(), task.schedule.batch_size)


def chunks(x: Tensor) -> Sequence[Tensor]:
    """Pieces of about one size: a small last one would be normalised by itself in networks that use a batch's statistics."""
    return torch.tensor_split(x, -(-len(x) // CHUNK)) if len(x) else ()
