"""Numbers of several seeds as one.

Within a run, mean and standard deviation are over clients; over seeds, both are averaged, and the spread is the
population standard deviation of the seeds' means. These are two different things and never added up.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfed.report.readings import NAMES, OWN


@dataclass(frozen=True)
class Accuracy:
    """Top-1 test accuracy, as a share of 1."""

    mean: float
    std: float
    """Over clients."""
    spread: float | None
    """Over seeds; None with one seed."""
    lam: list[float] | None = None
    """The shared λ in each seed; None where every client has its own, or the method has none."""


def readings_over_seeds(seeds: Sequence[dict[str, Any]]) -> dict[str, Accuracy]:
    """Every reading; the method's own λ only if each seed has it, for else it could not be held against the others."""
    names = [*NAMES, OWN.name] if all(OWN.name in readings for readings in seeds) else NAMES
    return {
        name: accuracy_over_seeds(
            [readings[name]["top1"] for readings in seeds], [readings[name]["lam"] for readings in seeds]
        )
        for name in names
    }


def accuracy_over_seeds(top1: Sequence[dict[str, Any]], lambdas: list[Any] | None = None) -> Accuracy:
    means = [seed["mean"] for seed in top1]
    return Accuracy(
        mean=mean(means),
        std=mean([seed["std"] for seed in top1]),
        spread=spread(means),
        lam=None if lambdas is None or None in lambdas else lambdas,
    )


def mean(values: Sequence[float | None]) -> float:
    return float(np.mean(_numbers(values)))


def spread(means: Sequence[float | None]) -> float | None:
    return float(np.std(_numbers(means))) if len(means) > 1 else None


def _numbers(values: Sequence[float | None]) -> list[float]:
    """JSON has no word for not-a-number but null."""
    return [math.nan if value is None else float(value) for value in values]
