"""Bins of confidence, from ``bins.parquet``: how sure models were, and how often they were right."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from superfed.core.errors import UserError
from superfed.store.layout import RunFolder
from superfed.store.tables import read_arrays

NUM_BINS = 15
_COLUMNS = ("client", "lam", "bin", "samples", "confidence", "top1")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bins:
    """A row for each bin of a client that holds samples: the clients' at their validated λ, in the store's order."""

    client: Ints
    bin: Ints
    samples: Ints
    confidence: Floats
    """Their mean."""
    hits: Ints
    by_lambda: list[tuple[float | None, Floats]]
    """At every λ, all clients' samples together: [15, 3], samples, confidences added up, how many were right."""

    @property
    def together(self) -> Floats:
        """All clients at their validated λ, [15, 3]."""
        return _added(self.bin, self.samples, self.confidence, self.hits)

    def of(self, clients: Ints) -> "Bins":
        """Those of some clients, which are in ascending order."""
        rows = np.isin(self.client, clients)
        return Bins(
            self.client[rows],
            self.bin[rows],
            self.samples[rows],
            self.confidence[rows],
            self.hits[rows],
            self.by_lambda,
        )


def bins_of(run: RunFolder) -> Bins | None:
    """None for a run that stored none, as those of older programs."""
    try:
        found = read_arrays(run.bins, _COLUMNS)
        client, lam, b, samples, confidence, top1 = (found[name].astype(np.float64) for name in _COLUMNS)
    except (UserError, TypeError, ValueError):
        return None
    if not ((b >= 0) & (b < NUM_BINS)).all():
        return None
    everybody = np.isnan(client)
    whole = [np.rint(column).astype(np.int64) for column in (b, samples, top1 * samples)]

    def rows(chosen: NDArray[np.bool_]) -> tuple[Ints, Ints, Floats, Ints]:
        return whole[0][chosen], whole[1][chosen], confidence[chosen], whole[2][chosen]

    by_lambda: list[tuple[float | None, Floats]] = []
    for one in dict.fromkeys(None if np.isnan(one) else float(one) for one in lam[everybody]):
        by_lambda.append((one, _added(*rows(everybody & (np.isnan(lam) if one is None else lam == one)))))
    return Bins(client[~everybody].astype(np.int64), *rows(~everybody), by_lambda)


def calibration(together: Floats) -> tuple[float, float]:
    """Expected and maximum calibration error of samples in bins."""
    samples, confidence, hits = together.T
    gaps = np.abs(confidence - hits)
    if not samples.sum():
        return float("nan"), float("nan")
    return float(gaps.sum() / samples.sum()), float((gaps / np.maximum(samples, 1)).max())


def added(several: Sequence[Floats]) -> Floats:
    total: Floats = np.sum(np.array(several), axis=0)
    return total


def _added(b: Ints, samples: Ints, confidence: Floats, hits: Ints) -> Floats:
    columns = (samples.astype(np.float64), confidence * samples, hits.astype(np.float64))
    return np.stack([np.bincount(b, column, NUM_BINS) for column in columns], axis=1)
