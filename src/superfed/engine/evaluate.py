"""How good one client's personal models are, at every λ, on its validation and its test samples."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from superfed.core.algorithm import Algorithm
from superfed.core.samples import Samples
from superfed.core.state import State
from superfed.engine.adapt import adapt
from superfed.engine.fusing import evaluating
from superfed.engine.local import CPU
from superfed.engine.task import Task, as_inputs
from superfed.metrics.scores import BINS, score

CHUNK = 1024
NO_LAMBDA = (float("nan"),)
"""The λ of methods whose personal model has none."""


Scores = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class ClientScores:
    """Each metric by λ, and how many samples it rests on; on test samples, the bins of confidence too.

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


def positions_of(task: Task, kept: State, lambdas: Sequence[float]) -> tuple[float, ...]:
    """Where on the line a client's models are looked at: the grid, and the λ that its method chose, if it did."""
    chosen = task.algorithm.own_lambda(kept)
    grid = grid_of(task.algorithm, lambdas)
    return grid if chosen is None else (*grid, float(chosen))


def personal_models(
    task: Task, kept: State, sent: State, positions: Sequence[float], device: torch.device
) -> Iterator[Tensor]:
    for lam in torch.tensor(positions, dtype=task.model.dtype, device=device):
        yield task.algorithm.personal_model(kept, sent, lam, task.model)


def evaluate_client(
    task: Task,
    client: int,
    kept: State,
    server: State,
    lambdas: Sequence[float],
    epochs: int = 0,
    device: torch.device = CPU,
    brief: bool = False,
) -> ClientScores:
    """Scores of W(λ) for every λ, after ``epochs`` of training for itself alone.

    ``brief`` is all that a curve needs: loss and top-1 on test samples.
    """
    if epochs > 0:
        kept, server = adapt(task, client, kept, server, epochs, device)
    sent = task.algorithm.broadcast(server, task.model)
    positions = positions_of(task, kept, lambdas)
    sets = both_sets(task, client, brief)
    scores = _scores(task, sets, personal_models(task, kept, sent, positions, device), device, brief)
    return client_scores(grid_of(task.algorithm, lambdas), positions, sets, scores)


def both_sets(task: Task, client: int, brief: bool = False) -> tuple[Samples, Samples]:
    """The client's validation and test samples; for a brief look, no validation samples."""
    test = task.data.test(client)
    return Samples(test.x[:0], test.y[:0]) if brief else task.data.validation(client), test


def client_scores(
    grid: tuple[float, ...], positions: Sequence[float], sets: tuple[Samples, Samples], scores: tuple[Scores, Scores]
) -> ClientScores:
    """From the scores at all positions, on validation and test samples."""
    (validation, test), (on_validation, on_test) = sets, scores
    on_validation = {name: values for name, values in on_validation.items() if name != BINS}
    if len(positions) == len(grid):
        return ClientScores(grid, len(validation), len(test), on_validation, on_test)

    def at(places: slice, found: Scores) -> Scores:
        return {name: values[places] for name, values in found.items()}

    on_grid, own = slice(len(grid)), slice(len(grid), None)
    return ClientScores(
        grid,
        len(validation),
        len(test),
        at(on_grid, on_validation),
        at(on_grid, on_test),
        own_lambda=positions[-1],
        own=at(own, on_test),
    )


def evaluate_arrival(task: Task, client: int, server: State, device: torch.device = CPU) -> ClientScores | None:
    """Scores of the global model on a client that has not trained; None where the method has no global model."""
    w = task.algorithm.global_model(server)
    if w is None:
        return None
    sets = both_sets(task, client)
    return client_scores(NO_LAMBDA, NO_LAMBDA, sets, _scores(task, sets, [w], device))


def score_models(task: Task, models: Iterable[Tensor], samples: Samples) -> Scores:
    """Each metric of each model on whatever samples are given."""
    return _scores(task, (Samples(samples.x[:0], samples.y[:0]), samples), models, CPU)[1]


def _scores(
    task: Task, sets: tuple[Samples, Samples], models: Iterable[Tensor], device: torch.device, brief: bool = False
) -> tuple[Scores, Scores]:
    """On both sets of samples, which go through a network together if it takes each sample by itself."""
    inputs = [as_inputs(samples.x, task.model).to(device) for samples in sets]
    together = [torch.cat(inputs)] if task.model.by_sample else inputs
    network = evaluating(task.model, device)
    outputs: list[Tensor] = []
    with torch.no_grad():
        for w in models:
            parts = [network(w, part) for x in together for part in chunks(x)]
            outputs.append(torch.cat(parts).cpu() if parts else torch.zeros(0, task.data.num_classes))
    cut = torch.split(torch.stack(outputs), [len(samples) for samples in sets], dim=1)
    on_validation, on_test = (
        score(rows.numpy(), samples.y.numpy(), task.schedule.batch_size, brief=brief)
        for rows, samples in zip(cut, sets, strict=True)
    )
    return on_validation, on_test


def chunks(x: Tensor) -> Sequence[Tensor]:
    """Pieces of about one size: a small last one would be normalised by itself in networks that use a batch's statistics."""
    return torch.tensor_split(x, -(-len(x) // CHUNK)) if len(x) else ()
