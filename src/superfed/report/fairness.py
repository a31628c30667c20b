"""How evenly accuracy falls on clients."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from superfed.report.averages import mean
from superfed.report.client_scores import ClientScores

Floats = NDArray[np.float64]
TENTH = 0.1


@dataclass(frozen=True)
class Fairness:
    """Of clients' test accuracies at their validated λ, averaged over seeds."""

    lowest: float
    worst_tenth: float
    median: float
    best_tenth: float
    gini: float


def fairness(seeds: list[ClientScores]) -> Fairness | None:
    known = [np.sort(scores.validated) for scores in seeds]
    known = [values for values in known if len(values)]
    if not known:
        return None
    tenths = [max(1, round(TENTH * len(values))) for values in known]
    return Fairness(
        lowest=mean([float(values[0]) for values in known]),
        worst_tenth=mean([float(v[:n].mean()) for v, n in zip(known, tenths, strict=True)]),
        median=mean([float(np.median(values)) for values in known]),
        best_tenth=mean([float(v[-n:].mean()) for v, n in zip(known, tenths, strict=True)]),
        gini=mean([gini(values) for values in known]),
    )


def gini(ascending: Floats) -> float:
    """0 where all are alike, towards 1 where one has everything: the mean difference between two, over twice the mean."""
    count, total = len(ascending), float(ascending.sum())
    if total == 0:
        return 0.0
    ranks = np.arange(1, count + 1)
    return float(2 * (ranks * ascending).sum() / (count * total) - (count + 1) / count)
