"""What every client of a run scored on its test samples at every λ, from ``clients.parquet`` and ``readings.parquet``."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from superfed.core.errors import UserError
from superfed.report.readings import HEADLINE
from superfed.store.layout import RunFolder
from superfed.store.tables import read_arrays

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClientScores:
    """Row i is about ``clients[i]``; a column for each λ, or one where there is none."""

    clients: Ints
    samples: Ints
    lambdas: list[float | None]
    top1: Floats
    """NaN for clients without test samples."""
    loss: Floats
    chosen: Ints
    """The column of each client's validated λ."""

    @property
    def hits(self) -> Ints:
        """How many of the samples were right: with ``samples`` the accuracy exactly, in whole numbers."""
        found: Ints = np.rint(np.nan_to_num(self.top1) * self.samples[:, None]).astype(np.int64)
        return found

    @property
    def validated(self) -> Floats:
        """Each client's accuracy at its validated λ, of those that have test samples."""
        found: Floats = self.top1[np.arange(len(self.top1)), self.chosen]
        return found[~np.isnan(found)]

    def some(self, rows: Ints) -> "ClientScores":
        return ClientScores(
            self.clients[rows],
            self.samples[rows],
            self.lambdas,
            self.top1[rows],
            self.loss[rows],
            self.chosen[rows],
        )


def client_scores(run: RunFolder) -> ClientScores | None:
    """None where the tables are missing, or are not what the store writes: then the rest of a report has to do."""
    try:
        found = read_arrays(run.clients, ("client", "split", "lam", "samples", "top1", "loss"))
        readings = read_arrays(run.readings, ("client", "reading", "lam"))
        return _scores(found, readings)
    except (UserError, ValueError, IndexError, KeyError, TypeError):
        return None


def _scores(found: dict[str, NDArray[np.generic]], readings: dict[str, NDArray[np.generic]]) -> ClientScores:
    on_test = found["split"] == "test"
    clients, lams, samples, top1, loss = (found[name][on_test] for name in ("client", "lam", "samples", "top1", "loss"))
    width = int(np.argmax(clients != clients[0])) or len(clients)
    grid = lams[:width].astype(np.float64)
    if not np.array_equal(np.tile(grid, len(clients) // width), lams.astype(np.float64), equal_nan=True):
        raise ValueError("clients have different λ")
    ids = clients.reshape(-1, width)[:, 0].astype(np.int64)
    headline = readings["reading"] == HEADLINE
    if not np.array_equal(readings["client"][headline], ids):
        raise ValueError("the readings are of other clients")
    wanted = np.nan_to_num(readings["lam"][headline].astype(np.float64))
    return ClientScores(
        clients=ids,
        samples=samples.reshape(-1, width)[:, 0].astype(np.int64),
        lambdas=[None if np.isnan(lam) else float(lam) for lam in grid],
        top1=top1.reshape(-1, width).astype(np.float64),
        loss=loss.reshape(-1, width).astype(np.float64),
        chosen=np.abs(wanted[:, None] - np.nan_to_num(grid)[None]).argmin(axis=1).astype(np.int64),
    )
