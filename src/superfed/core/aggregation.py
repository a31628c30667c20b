"""Ways to one vector from many clients': the mean, and some that a few bad clients cannot move far.

Each takes the clients' vectors as rows, their weights, and the point that changes are measured from. The plain mean is
Σ wₖ vₖ / Σ wₖ with wₖ the clients' sample counts. Of the others, those that rank values count every client once: a count
is the client's own word.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from superfed.core.errors import require
from superfed.core.maths import weighted_mean

Center = Callable[[Tensor, Tensor, Tensor], Tensor]
"""From rows, weights and the point that changes are measured from."""


def plain_mean(rows: Tensor, weights: Tensor, around: Tensor) -> Tensor:
    return weighted_mean(rows, weights)


@dataclass(frozen=True)
class Aggregation:
    """How the server brings uploads together."""

    def center(self, rows: Tensor, weights: Tensor, around: Tensor) -> Tensor:
        raise NotImplementedError


@dataclass(frozen=True)
class Mean(Aggregation):
    """By sample counts, as in FedAvg."""

    def center(self, rows: Tensor, weights: Tensor, around: Tensor) -> Tensor:
        return plain_mean(rows, weights, around)


@dataclass(frozen=True)
class TrimmedMean(Aggregation):
    """For each number, the mean without the lowest and the highest of them (Yin et al., 2018)."""

    trim: float = 0.1
    """The share of clients that is left out at either end, rounded up to whole clients."""

    def __post_init__(self) -> None:
        require(0 <= self.trim < 0.5, "trim", f"must be at least 0 and less than 0.5, not {self.trim}")

    def center(self, rows: Tensor, weights: Tensor, around: Tensor) -> Tensor:
        cut = min(math.ceil(round(self.trim * len(rows), 9)), (len(rows) - 1) // 2)
        return rows.sort(dim=0).values[cut : len(rows) - cut].mean(dim=0)


@dataclass(frozen=True)
class Median(Aggregation):
    """For each number, the middle one, or the mean of the two in the middle (Yin et al., 2018)."""

    def center(self, rows: Tensor, weights: Tensor, around: Tensor) -> Tensor:
        ranked = rows.sort(dim=0).values
        return (ranked[(len(rows) - 1) // 2] + ranked[len(rows) // 2]) / 2


@dataclass(frozen=True)
class ClippedMean(Aggregation):
    """The mean, after every client's change is shortened to at most ``bound`` (Sun et al., 2019)."""

    bound: float | Literal["median"] = "median"
    """A length, or that of the change in the middle, by length, of this round's."""

    def __post_init__(self) -> None:
        require(self.bound == "median" or self.bound > 0, "bound", f"must be more than 0, or median, not {self.bound}")

    def center(self, rows: Tensor, weights: Tensor, around: Tensor) -> Tensor:
        changes = (rows - around).flatten(1)
        lengths = changes.norm(dim=1)
        bound = lengths.median() if self.bound == "median" else torch.as_tensor(self.bound).to(lengths)
        share = (bound / lengths.clamp_min(torch.finfo(rows.dtype).tiny)).clamp_max(1)
        return around + weighted_mean((share[:, None] * changes).view_as(rows), weights)


@dataclass(frozen=True)
class GeometricMedian(Aggregation):
    """The point with the least sum of distances to all, by weight (Pillutla et al., 2022), by Weiszfeld's iteration."""

    iterations: int = 30
    """At most so many."""
    smoothing: float = 1e-6
    """The least distance that is divided by, as a share of the middle one."""

    def __post_init__(self) -> None:
        require(self.iterations >= 1, "iterations", f"must be 1 or more, not {self.iterations}")
        require(self.smoothing > 0, "smoothing", f"must be more than 0, not {self.smoothing}")

    def center(self, rows: Tensor, weights: Tensor, around: Tensor) -> Tensor:
        weights = weights.to(rows.device)
        found = Median().center(rows, weights, around)
        for _ in range(self.iterations):
            distances = (rows - found).flatten(1).norm(dim=1).double()
            middle = distances.median()
            if not middle > 0:  # half of all are at one place
                break
            found = weighted_mean(rows, weights.double() / distances.maximum(self.smoothing * middle))
        return found


AGGREGATIONS: dict[str, type[Aggregation]] = {
    "mean": Mean,
    "trimmed_mean": TrimmedMean,
    "median": Median,
    "clipped_mean": ClippedMean,
    "geometric_median": GeometricMedian,
}
