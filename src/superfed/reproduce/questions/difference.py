"""How far two sets of accuracies are apart, and whether that can be chance.

As for the verdicts beside the published numbers: from three seeds on it is the spread between seeds that a difference is
measured against; with fewer, the spread over clients, as if they were independent, which they are not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from superfed.metrics.student import two_sided
from superfed.reproduce.verdict import LEVEL, SEEDS_NEEDED

Floats = NDArray[np.float64]
Values = Mapping[int, Floats]
"""In percent, client by client, for each seed."""


def level(values: Values) -> float:
    """The mean over seeds of the means over clients."""
    return fmean(float(np.nanmean(of)) for of in values.values())


@dataclass(frozen=True)
class Difference:
    points: float
    p: float | None
    """None where there is nothing to measure it against."""
    by: Literal["seeds", "clients"]

    @property
    def seen(self) -> bool:
        return self.p is not None and self.p < LEVEL

    def among(self, comparisons: int) -> "Difference":
        """The same as the largest of several: p times their number (Bonferroni)."""
        return Difference(self.points, None if self.p is None else min(1.0, self.p * comparisons), self.by)

    @property
    def words(self) -> str:
        """``+0.52 (p = 0.031)``."""
        return f"{self.points:+.2f} ({chance(self.p)})"

    @property
    def inside(self) -> str:
        """The same for brackets: ``+0.52, p = 0.031``."""
        return f"{self.points:+.2f}, {chance(self.p)}"

    @property
    def marked(self) -> str:
        """``+0.52*``: with a mark where it counts as seen."""
        return f"{self.points:+.2f}{'*' if self.seen else ''}"


def paired(first: Values, second: Values) -> Difference | None:
    """``first`` less ``second`` over the same clients, of the seeds that both have; None if they have none."""
    by_seed = []
    for seed in sorted(first.keys() & second.keys()):
        apart = first[seed] - second[seed]
        by_seed.append(apart[~np.isnan(apart)])
    if not by_seed or not all(len(apart) for apart in by_seed):
        return None
    if len(by_seed) >= SEEDS_NEEDED:
        return _between_seeds([float(apart.mean()) for apart in by_seed])
    every = np.concatenate(by_seed)
    return Difference(float(every.mean()), _chance(every.mean(), _error(every), len(every) - 1), "clients")


def unpaired(first: Values, second: Values) -> Difference | None:
    """``first`` less ``second`` over different clients, of the seeds that both have; None if they have none.

    Over clients it is Welch's test with the degrees of freedom of the smaller side, which is on the safe side of his.
    """
    both = [
        (first[seed][~np.isnan(first[seed])], second[seed][~np.isnan(second[seed])])
        for seed in sorted(first.keys() & second.keys())
    ]
    both = [(one, other) for one, other in both if len(one) and len(other)]
    if not both:
        return None
    if len(both) >= SEEDS_NEEDED:
        return _between_seeds([float(one.mean() - other.mean()) for one, other in both])
    one, other = (np.concatenate(side) for side in zip(*both, strict=True))
    points, fewer = float(one.mean() - other.mean()), min(len(one), len(other))
    return Difference(points, _chance(points, sqrt(_error(one) ** 2 + _error(other) ** 2), fewer - 1), "clients")


def chance(p: float | None) -> str:
    if p is None:
        return "p unknown"
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def _between_seeds(means: Sequence[float]) -> Difference:
    values = np.array(means)
    return Difference(float(values.mean()), _chance(values.mean(), _error(values), len(values) - 1), "seeds")


def _error(values: Floats) -> float:
    """The standard error of their mean."""
    return float(values.std(ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0


def _chance(points: float, error: float, degrees: int) -> float | None:
    if degrees < 1:
        return None
    if error == 0:
        return 1.0 if points == 0 else 0.0
    return two_sided(float(points) / error, degrees)
