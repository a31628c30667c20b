"""Accuracy as training went on, at every λ, from ``curve.parquet``, averaged over seeds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from superfed.core.errors import UserError
from superfed.report.readings import FIXED_LAMBDA
from superfed.store.layout import RunFolder
from superfed.store.tables import read_table

Curve = dict[float | None, dict[int, float]]
"""Accuracy by λ and round."""


@dataclass(frozen=True)
class Progress:
    """After ``rounds`` rounds, over the clients that were followed through training; a list for each λ."""

    lambdas: list[float | None]
    rounds: list[int]
    mean: list[list[float]]
    spread: list[list[float]]
    """Over seeds; 0 with one."""

    @property
    def at_fixed(self) -> int:
        """The place of the λ nearest to one half."""
        return min(range(len(self.lambdas)), key=lambda i: abs((self.lambdas[i] or 0.0) - FIXED_LAMBDA))


def progress(runs: Sequence[RunFolder]) -> Progress | None:
    """How runs that differ in their seed came to their accuracy, at the rounds and λ that all have; None without a curve."""
    curves = [curve for run in runs if (curve := _curve(run))]
    if not curves:
        return None
    lambdas = [lam for lam in curves[0] if all(lam in curve for curve in curves)]
    rounds = (
        [r for r in curves[0][lambdas[0]] if all(r in c[lam] for c in curves for lam in lambdas)] if lambdas else []
    )
    if not rounds:
        return None
    values = np.array([[[curve[lam][r] for r in rounds] for lam in lambdas] for curve in curves])
    return Progress(lambdas, rounds, values.mean(axis=0).tolist(), values.std(axis=0).tolist())


def _curve(run: RunFolder) -> Curve:
    try:
        table = read_table(run.curve)
        rows = zip(table["round"], table["lam"], table["top1"], strict=True)
        found: Curve = {}
        for r, lam, top1 in rows:
            if top1 is not None:
                found.setdefault(_known(lam), {})[int(r)] = float(top1)
    except (UserError, KeyError, TypeError, ValueError):
        return {}
    return found


def _known(lam: float | None) -> float | None:
    return None if lam is None or math.isnan(lam) else round(float(lam), 9)
