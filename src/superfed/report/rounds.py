"""Accuracy as training went on, from ``curve.parquet``, averaged over seeds."""

import math
from dataclasses import dataclass

import numpy as np

from superfed.core.errors import UserError
from superfed.report.comparison import Row
from superfed.report.readings import FIXED_LAMBDA
from superfed.store.layout import RunFolder
from superfed.store.tables import read_table


@dataclass(frozen=True)
class RoundPoint:
    """After ``round`` rounds, over the clients that were followed through training."""

    round: int
    mean: float
    spread: float
    """Over seeds; 0 with one."""


@dataclass(frozen=True)
class Progress:
    points: list[RoundPoint]
    lam: float | None
    """Where a mixing method was looked at; None for one that does not mix."""


def progress(row: Row) -> Progress:
    """How ``row`` came to its accuracy, at the rounds that all its seeds have. Empty if they kept no curve."""
    curves = [curve for curve in (_at_fixed_lambda(run.folder) for run in row.members) if curve[1]]
    if not curves:
        return Progress([], None)
    lam = curves[0][0]
    seeds = [found for other, found in curves if other == lam]
    points = []
    for after in seeds[0]:
        if all(after in found for found in seeds):
            values = [found[after] for found in seeds]
            points.append(RoundPoint(after, float(np.mean(values)), float(np.std(values))))
    return Progress(points, lam)


def _at_fixed_lambda(folder: RunFolder) -> tuple[float | None, dict[int, float]]:
    """The λ nearest to 0.5 that was looked at, and the accuracy there by round."""
    try:
        table = read_table(folder.curve)
        rows = list(zip(table["round"], table["lam"], table["top1"], strict=True))
    except (UserError, KeyError):
        return None, {}
    lambdas = {lam for _, lam, _ in rows if _is_number(lam)}
    chosen = min(lambdas, key=lambda lam: abs(lam - FIXED_LAMBDA)) if lambdas else None
    return chosen, {int(r): float(top1) for r, lam, top1 in rows if (lam == chosen if lambdas else True)}


def _is_number(lam: float | None) -> bool:
    return lam is not None and not math.isnan(lam)
