"""Clients that never took part in training: what a method does for them as they arrive, and after they trained."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from superfed.report.averages import Accuracy, accuracy_over_seeds, readings_over_seeds
from superfed.report.loading import Finished
from superfed.report.numbers import accuracy
from superfed.report.readings import HEADLINE

TITLE = "Newcomers: clients that never took part in training"
ARRIVING = "as they arrive"


@dataclass(frozen=True)
class Newcomers:
    """The newcomers of a row, over those of its runs that met any."""

    seeds: list[int]
    """Of these runs."""
    num_clients: list[int]
    """In each run."""
    epochs: int
    """A setting, and so the same in every run of a row."""
    arriving: Accuracy | None
    """None where the method has no whole global model: nobody can be served before training."""
    adapted: dict[str, Accuracy]
    """By reading, after the local epochs."""

    @property
    def headline(self) -> Accuracy:
        return self.adapted[HEADLINE]


def newcomers(members: Sequence[Finished]) -> Newcomers | None:
    """What ``members``, the runs of one row, say of newcomers; None if none of them met any."""
    met = [(run.seed, found) for run in members if (found := run.summary.get("newcomers")) is not None]
    if not met:
        return None
    arriving = [found["arriving"]["top1"] for _, found in met if found["arriving"] is not None]
    return Newcomers(
        seeds=[seed for seed, _ in met],
        num_clients=[found["num_clients"] for _, found in met],
        epochs=met[0][1]["epochs"],
        arriving=accuracy_over_seeds(arriving) if arriving else None,
        adapted=readings_over_seeds([found["adapted"] for _, found in met]),
    )


def adapted_heading(found: Sequence[Newcomers]) -> str:
    epochs = {one.epochs for one in found}
    return f"after {local_epochs(epochs.pop())}" if len(epochs) == 1 else "after local epochs"


def local_epochs(epochs: int) -> str:
    return f"{epochs} local {'epoch' if epochs == 1 else 'epochs'}"


def how_many(found: Sequence[Newcomers]) -> str:
    """``4 newcomers``, where it is the same number everywhere."""
    counts = {count for one in found for count in one.num_clients}
    words = "newcomer" if counts == {1} else "newcomers"
    return f"{counts.pop()} {words}" if len(counts) == 1 else words


def reservations(one: Newcomers, found: Sequence[Newcomers], num_seeds: int) -> list[str]:
    """What must be said of one row of a table of ``found`` because it is not so of all."""
    notes = [local_epochs(one.epochs)] if len({other.epochs for other in found}) > 1 else []
    return notes + ([f"{len(one.seeds)} of {num_seeds} seeds"] if len(one.seeds) < num_seeds else [])


def told(found: Accuracy) -> str:
    """In words where it is not known: a dash would say that it cannot be."""
    return accuracy(found.mean, found.std) if math.isfinite(found.mean) else "unknown"
