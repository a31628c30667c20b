"""The final scores of a run, read back from its tables."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from superfed.core.errors import UserError
from superfed.engine.evaluate import ClientScores, Scores
from superfed.experiments.results import OWN, Results
from superfed.metrics.scores import BINS, METRICS, NUM_BINS
from superfed.store.layout import RunFolder
from superfed.store.tables import read_table

Table = dict[str, list[Any]]
Floats = NDArray[np.float64]


def stored_results(folder: RunFolder) -> Results:
    """What the run's final evaluation said, as it was written."""
    try:
        return _results(read_table(folder.clients), read_table(folder.readings))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise UserError(
            f"{folder.path}: its tables of results do not fit each other; superfed evaluate anew"
        ) from error


def _results(clients: Table, readings: Table) -> Results:
    """Rows lie by split, client and λ, as ``Results`` writes them."""
    people = list(dict.fromkeys(clients["client"]))
    count = len(clients["client"]) // (2 * len(people))
    values = {name: _floats(clients[name]).reshape(2, len(people), count) for name in METRICS}
    sizes = np.array(clients["samples"]).reshape(2, len(people), count)[:, :, 0]
    lambdas = tuple(_floats(clients["lam"][:count]).tolist())
    own = _own(readings)
    return Results(
        people,
        [
            ClientScores(
                lambdas,
                int(sizes[0, place]),
                int(sizes[1, place]),
                {name: values[name][0, place] for name in METRICS},
                {name: values[name][1, place] for name in METRICS} | _no_bins(count),
                *own.get(client, (None, None)),
            )
            for place, client in enumerate(people)
        ],
    )


def _own(readings: Table) -> dict[int, tuple[float, Scores]]:
    """By client the λ that the method chose itself, and the metrics there."""
    rows = [row for row, reading in enumerate(readings["reading"]) if reading == OWN]
    return {
        readings["client"][row]: (readings["lam"][row], {name: _floats([readings[name][row]]) for name in METRICS})
        for row in rows
    }


def _no_bins(count: int) -> dict[str, Floats]:
    """Bins are stored for drawing, at some λ alone; who asks a run for its models needs none."""
    return {BINS: np.zeros((count, NUM_BINS, 3))}


def _floats(values: list[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
