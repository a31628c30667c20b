"""How far two sets of accuracies are apart, and whether that can be chance.

As for the verdicts beside the published numbers: from three seeds on it is the spread between seeds that a difference is
measured against, if need be that of the one side that has so many; with fewer, the spread over clients, as if they were
independent, which they are not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from superfed.metrics.student import two_sided
from superfed.reproduce.verdict import LEVEL, SEEDS_NEEDED

Floats = NDArray[np.float64]
MARKS = {"seeds": "*", "clients": "°"}
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

    def no_surer_than(self, other: "Difference") -> "Difference":
        """The same, with the larger p of the two, and 1 where the other points elsewhere."""
        if self.p is None or other.p is None:
            return self
        return Difference(self.points, max(self.p, other.p) if self.points * other.points > 0 else 1.0, self.by)

    @property
    def verdict(self) -> str:
        return "not seen to differ" if not self.seen else "better" if self.points > 0 else "worse"

    @property
    def words(self) -> str:
        """``+0.52 points (p = 0.031)``."""
        return f"{self.points:+z.2f} points ({self._chance})"

    @property
    def further(self) -> str:
        """The same after others: ``+0.52 (p = 0.031)``."""
        return f"{self.points:+z.2f} ({self._chance})"

    @property
    def inside(self) -> str:
        """The same for brackets: ``+0.52, p = 0.031``."""
        return f"{self.points:+z.2f}, {self._chance}"

    @property
    def marked(self) -> str:
        """``+0.52*``: with a mark where it counts as seen, another one if by clients alone."""
        return f"{self.points:+z.2f}{MARKS[self.by] if self.seen else ''}"

    @property
    def _chance(self) -> str:
        alone = self.p is not None and self.by == "clients"
        return f"{chance(self.p)} over clients" if alone else chance(self.p)


def compared(first: Values, second: Values) -> tuple[Values, Values]:
    """Of both the seeds that both have; or all, where these are too few to tell a spread and one side has enough.

    The same setting can end points apart with another seed, or computed another way, in nearly all clients. Their number
    does not make up for that.
    """
    return (first, second) if _lopsided(first, second) else _shared(first, second)


def paired(first: Values, second: Values) -> Difference | None:
    """``first`` less ``second`` over the same clients; None if there is nothing to compare."""
    return _found(first, second, _of_pairs)


def unpaired(first: Values, second: Values) -> Difference | None:
    """``first`` less ``second`` over different clients; None if there is nothing to compare."""
    return _found(_known(first), _known(second), _of_groups)


def chance(p: float | None) -> str:
    if p is None:
        return "p unknown"
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def _lopsided(first: Values, second: Values) -> bool:
    shared, most = len(first.keys() & second.keys()), max(len(first), len(second))
    return bool(first and second) and shared < SEEDS_NEEDED <= most


def _shared(first: Values, second: Values) -> tuple[Values, Values]:
    seeds = sorted(first.keys() & second.keys())
    return {seed: first[seed] for seed in seeds}, {seed: second[seed] for seed in seeds}


def _known(values: Values) -> Values:
    """Without clients that have no value, and without seeds that are then empty."""
    known = {seed: of[~np.isnan(of)] for seed, of in values.items()}
    return {seed: of for seed, of in known.items() if len(of)}


def _found(first: Values, second: Values, test: Callable[[Values, Values], Difference | None]) -> Difference | None:
    """Three seeds can be alike by chance: where few runs are measured against them, clients must show it too."""
    of_shared = test(*_shared(first, second))
    if not _lopsided(first, second):
        return of_shared
    of_all = _against_seeds(_known(first), _known(second))
    if of_all is None:
        return None
    of_clients = of_shared or _of_clients(list(_known(first).values()), list(_known(second).values()))
    return of_all.no_surer_than(of_clients)


def _of_pairs(first: Values, second: Values) -> Difference | None:
    by_seed = []
    for seed, values in first.items():
        apart = values - second[seed]
        by_seed.append(apart[~np.isnan(apart)])
    if not by_seed or not all(len(apart) for apart in by_seed):
        return None
    if len(by_seed) >= SEEDS_NEEDED:
        return _between_seeds([float(apart.mean()) for apart in by_seed])
    every = np.concatenate(by_seed)
    return Difference(float(every.mean()), _chance(every.mean(), _error(every), len(every) - 1), "clients")


def _of_groups(first: Values, second: Values) -> Difference | None:
    both = [(values, second[seed]) for seed, values in first.items()]
    if not both:
        return None
    if len(both) >= SEEDS_NEEDED:
        return _between_seeds([float(one.mean() - other.mean()) for one, other in both])
    return _of_clients([one for one, _ in both], [other for _, other in both])


def _of_clients(first: Sequence[Floats], second: Sequence[Floats]) -> Difference:
    """Welch's test with the degrees of freedom of the smaller side, which is on the safe side of his."""
    one, other = np.concatenate(first), np.concatenate(second)
    points, fewer = float(one.mean() - other.mean()), min(len(one), len(other))
    return Difference(points, _chance(points, sqrt(_error(one) ** 2 + _error(other) ** 2), fewer - 1), "clients")


def _against_seeds(first: Values, second: Values) -> Difference | None:
    """A few runs less several or the other way round, against the spread of the several, as if the few had it too.

    Where both are several, with other seeds, it is the spread of either.
    """
    sides = [[float(of.mean()) for of in side.values()] for side in (first, second)]
    several = [side for side in sides if len(side) >= SEEDS_NEEDED]
    if not all(sides) or not several:
        return None
    degrees = sum(len(side) - 1 for side in several)
    spread = sqrt(sum((len(side) - 1) * stdev(side) ** 2 for side in several) / degrees)
    points, error = fmean(sides[0]) - fmean(sides[1]), spread * sqrt(1 / len(sides[0]) + 1 / len(sides[1]))
    return Difference(points, _chance(points, error, degrees), "seeds")


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
