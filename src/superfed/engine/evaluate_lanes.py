"""Many clients' personal models at every λ, evaluated together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor
from torch.func import vmap

from superfed.core.samples import Samples
from superfed.core.state import State, moved
from superfed.core.vector import VectorModel
from superfed.engine.answers import answers_on_device
from superfed.engine.evaluate import (
    CHUNK,
    ClientScores,
    Scores,
    both_sets,
    chunks,
    client_scores,
    grid_of,
    personal_models,
    positions_of,
)
from superfed.engine.precision import products_in
from superfed.engine.task import Task, as_inputs
from superfed.metrics.scores import Answers, metrics_of

ROOM_FOR_OUTPUTS = 40
"""Numbers that a network's layers hold for each number of its input, about."""


@dataclass(frozen=True)
class Standing:
    """A client as it is evaluated: what it keeps, and what the server would send it."""

    task: Task
    client: int
    kept: State
    sent: State


def evaluate_together(
    standings: Sequence[Standing], lambdas: Sequence[float], device: torch.device, budget: int, brief: bool = False
) -> Iterator[tuple[int, ClientScores]]:
    """The scores of clients with batchable networks, each with its place; ``budget`` is in bytes."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, standing in enumerate(standings):
        key = (id(standing.task.model), len(_positions(standing, lambdas)))
        groups.setdefault(key, []).append(place)
    for places in groups.values():
        model = standings[places[0]].task.model.for_lanes().to(device)
        for part in _parts([(i, standings[i]) for i in places], lambdas, budget, brief):
            found = _evaluated([subject for _, subject in part], lambdas, model, device, brief)
            yield from zip([place for place, _ in part], found, strict=True)


@dataclass(frozen=True)
class _Subject:
    """A client with the samples it is evaluated on: for validation and for the test."""

    standing: Standing
    sets: tuple[Samples, Samples]

    @property
    def room(self) -> int:
        """Numbers that one of its models and its outputs take."""
        task = self.standing.task
        longest = min(sum(len(samples) for samples in self.sets), CHUNK)
        return prod(task.data.input_shape) * ROOM_FOR_OUTPUTS * longest + 2 * task.model.size


def _parts(
    standings: Sequence[tuple[int, Standing]], lambdas: Sequence[float], budget: int, brief: bool
) -> Iterator[list[tuple[int, _Subject]]]:
    """In their order, as many at once as fit into half of the budget; samples are fetched for one part at a time."""
    models = len(_positions(standings[0][1], lambdas))
    most = budget // 2 // (4 * models)
    part, widest = list[tuple[int, _Subject]](), 0
    for place, standing in standings:
        subject = _Subject(standing, both_sets(standing.task, standing.client, brief))
        if part and (len(part) + 1) * max(widest, subject.room) > most:
            yield part
            part, widest = [], 0
        part.append((place, subject))
        widest = max(widest, subject.room)  # the others are padded to it
    yield part


def _evaluated(
    subjects: Sequence[_Subject], lambdas: Sequence[float], model: VectorModel, device: torch.device, brief: bool
) -> list[ClientScores]:
    standings = [subject.standing for subject in subjects]
    positions = [_positions(standing, lambdas) for standing in standings]
    pairs = zip(standings, positions, strict=True)
    weights = torch.stack([w for standing, places in pairs for w in _models(standing, places, device)])

    def scored(sets: Sequence[Samples]) -> list[Scores]:
        answers = _answers(model, weights, sets, device)
        return [
            metrics_of(found, standing.task.schedule.batch_size, brief=brief)
            for found, standing in zip(answers, standings, strict=True)
        ]

    validation, test = ([subject.sets[which] for subject in subjects] for which in (0, 1))
    scores = zip(scored(validation), scored(test), strict=True)
    return [
        client_scores(grid_of(subject.standing.task.algorithm, lambdas), places, subject.sets, found)
        for subject, places, found in zip(subjects, positions, scores, strict=True)
    ]


def _positions(standing: Standing, lambdas: Sequence[float]) -> tuple[float, ...]:
    return positions_of(standing.task, standing.kept, lambdas)


def _models(standing: Standing, positions: Sequence[float], device: torch.device) -> Iterator[Tensor]:
    kept, sent = moved(standing.kept, device), moved(standing.sent, device)
    return personal_models(standing.task, kept, sent, positions, device)


def _answers(model: VectorModel, weights: Tensor, sets: Sequence[Samples], device: torch.device) -> list[Answers]:
    """What each client's models say of its samples; ``weights`` has the clients' models one after another's."""
    each = len(weights) // len(sets)
    cut = [chunks(as_inputs(samples.x, model)) for samples in sets]
    labels = [chunks(samples.y) for samples in sets]
    found: list[list[Answers]] = [[] for _ in sets]
    for number in range(max(len(parts) for parts in cut)):
        having = [i for i, parts in enumerate(cut) if number < len(parts)]
        x, counts = _padded([cut[i][number] for i in having], model.dtype, device)
        y, _ = _padded([labels[i][number] for i in having], model.dtype, device)
        own = weights.view(len(sets), each, -1)[having].flatten(0, 1) if len(having) < len(sets) else weights
        x, counts, y = (rows.repeat_interleave(each, 0) for rows in (x, counts, y))
        answers = answers_on_device(_forward(model, own, x, counts), y)
        for place, i in enumerate(having):
            models, samples = slice(place * each, (place + 1) * each), slice(len(cut[i][number]))
            found[i].append(answers.part(models, samples))
    return [Answers.joined(parts) if parts else Answers.none(each) for parts in found]


def _forward(model: VectorModel, weights: Tensor, x: Tensor, counts: Tensor) -> Tensor:
    def one(w: Tensor, x: Tensor, count: Tensor) -> Tensor:
        return model.apply(w, x, weight=count)

    with torch.no_grad(), products_in("float32"):
        outputs: Tensor = vmap(one)(weights, x, counts)
    return outputs


def _padded(parts: Sequence[Tensor], dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """The parts as rows of one tensor on the device, and which of the samples in it count."""
    most = max(len(part) for part in parts)
    x = parts[0].new_zeros(len(parts), most, *parts[0].shape[1:])
    counts = torch.zeros(len(parts), most, dtype=dtype)
    for row, part in enumerate(parts):
        x[row, : len(part)] = part
        counts[row, : len(part)] = 1
    return x.to(device), counts.to(device)
