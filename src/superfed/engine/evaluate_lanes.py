"""Many clients' personal models at every λ, evaluated together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import vmap

from superfed.core.samples import Samples
from superfed.core.state import State, moved
from superfed.core.vector import VectorModel
from superfed.engine.answer_room import answer_bytes
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
        subjects = (_Subject(i, standings[i], both_sets(standings[i].task, standings[i].client, brief)) for i in places)
        for part, at_once in _parts(subjects, lambdas, device, budget // 2):
            found = _evaluated(part, lambdas, model, device, at_once, brief)
            yield from zip([subject.place for subject in part], found, strict=True)


@dataclass(frozen=True)
class _Subject:
    """A client with the samples it is evaluated on: for validation and for the test."""

    place: int
    standing: Standing
    sets: tuple[Samples, Samples]

    def room(self, device: torch.device) -> int:
        """Bytes that one of its models takes while it answers."""
        model, longest = self.standing.task.model, max(self.sets, key=len)
        return answer_bytes(model, as_inputs(longest.x[:1], model), device, min(len(longest), CHUNK))


def _parts(
    subjects: Iterable[_Subject], lambdas: Sequence[float], device: torch.device, budget: int
) -> Iterator[tuple[list[_Subject], int]]:
    """In their order, as many at once as fit into so many bytes; samples are fetched for one part at a time.

    With each part comes how many models fit at once, which for one client may be fewer than it has.
    """
    part, fit = list[_Subject](), 0
    for subject in subjects:
        fits = max(budget // subject.room(device), 1)
        models = len(_positions(subject.standing, lambdas))
        if part and (len(part) + 1) * models > min(fit, fits):
            yield part, fit
            part = []
        fit = min(fit, fits) if part else fits  # the others are padded to the one that needs most
        part.append(subject)
    yield part, fit


def _evaluated(
    subjects: Sequence[_Subject],
    lambdas: Sequence[float],
    model: VectorModel,
    device: torch.device,
    at_once: int,
    brief: bool,
) -> list[ClientScores]:
    standings = [subject.standing for subject in subjects]
    positions = [_positions(standing, lambdas) for standing in standings]
    pairs = zip(standings, positions, strict=True)
    weights = torch.stack([w for standing, places in pairs for w in _models(standing, places, device)])

    def scored(sets: Sequence[Samples]) -> list[Scores]:
        answers = _answers(model, weights, sets, device, at_once)
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


def _answers(
    model: VectorModel, weights: Tensor, sets: Sequence[Samples], device: torch.device, at_once: int
) -> list[Answers]:
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
        answers = _asked(model, own, x, counts, y, at_once)
        for place, i in enumerate(having):
            models, samples = slice(place * each, (place + 1) * each), slice(len(cut[i][number]))
            found[i].append(answers.part(models, samples))
    return [Answers.joined(parts) if parts else Answers.none(each) for parts in found]


def _asked(model: VectorModel, weights: Tensor, x: Tensor, counts: Tensor, y: Tensor, at_once: int) -> Answers:
    """So many models at a time, of which each client has as many; if memory is short all the same, half as many."""
    owners = torch.arange(len(x), device=x.device).repeat_interleave(len(weights) // len(x))
    try:
        return Answers.stacked(
            [
                answers_on_device(_forward(model, w, x[rows], counts[rows]), y[rows])
                for w, rows in zip(torch.split(weights, at_once), torch.split(owners, at_once), strict=True)
            ]
        )
    except torch.OutOfMemoryError:
        fewer = min(at_once, len(weights)) // 2
        if fewer == 0:
            raise
    torch.cuda.empty_cache()
    return _asked(model, weights, x, counts, y, fewer)


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
