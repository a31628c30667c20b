"""What a run's clients would have had, had each chosen λ by the score in question."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from superfed.metrics.scores import HIGHER_IS_BETTER
from superfed.metrics.summary import summarise
from superfed.reproduce.paper import Plain
from superfed.store.layout import RunFolder
from superfed.store.tables import read_arrays

BY_SCORE = "by_score"
"""Beside the readings of λ."""
CHOSEN_BY = "top1"
"""The readings themselves choose by it."""


def best_by_score(run: RunFolder, metrics: Sequence[str]) -> Plain:
    """By metric the mean and standard deviation over clients of each one's best on the way of λ; empty without a λ."""
    wanted = [metric for metric in metrics if metric != CHOSEN_BY]
    if not wanted:
        return {}
    told = read_arrays(run.clients, ("split", "lam", *wanted))
    on_test = told["split"] == "test"
    width = len(np.unique(told["lam"][on_test].astype(np.float64)))
    return {} if width < 2 else {metric: _best(told[metric][on_test], width, metric) for metric in wanted}


def _best(values: NDArray[np.generic], width: int, metric: str) -> Plain:
    by_client = values.astype(np.float64).reshape(-1, width)
    best = np.fmax.reduce(by_client, axis=1) if metric in HIGHER_IS_BETTER else np.fmin.reduce(by_client, axis=1)
    over = summarise(best)
    return {key: over[key] for key in ("mean", "std")}
