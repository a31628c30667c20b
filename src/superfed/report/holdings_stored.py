"""Who holds what, as a run stored it: from ``holdings.parquet``, ``names.json`` and what ``run.json`` sums up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfed.core.errors import UserError
from superfed.report.holdings_view import IntArray, View, drawn_of
from superfed.report.loading import Finished
from superfed.store.files import read_json
from superfed.store.layout import RunFolder
from superfed.store.tables import read_table

_PARTS = ("train", "validation", "test")


@dataclass(frozen=True, eq=False)
class StoredHoldings:
    """Row i is about ``clients[i]``."""

    clients: IntArray
    counts: IntArray
    parts: IntArray
    names: Sequence[str] | None


def stored_holdings(run: RunFolder) -> StoredHoldings | None:
    """None for a run that stored none, as those of older programs."""
    try:
        table = read_table(run.holdings)
        clients = np.array(table["client"], dtype=np.int64)
        pairs = list(zip(table["classes"], table["samples"], strict=True))
        names, class_names = names_in(run, "client"), names_in(run, "class")
        num_classes = max([len(class_names or ()), *(max(classes) + 1 for classes, _ in pairs if classes)])
        counts = np.zeros((len(clients), num_classes), dtype=np.int64)
        for row, (classes, samples) in enumerate(pairs):
            counts[row, classes] = samples
        parts = np.array([table[part] for part in _PARTS], dtype=np.int64).T
        if not len(clients) or not num_classes:
            return None
        return StoredHoldings(clients, counts, parts, None if names is None else [names[c] for c in clients.tolist()])
    except (UserError, KeyError, TypeError, ValueError, IndexError):
        return None


def names_in(run: RunFolder, what: str) -> list[str] | None:
    """What its classes or its clients are called, where they have names."""
    try:
        names = read_json(run.names_file).get(what)
    except (UserError, AttributeError):
        return None
    return None if not isinstance(names, list) else [str(name) for name in names]


def stored_view(run: Finished, title: str, details: str) -> View | None:
    held, summed = stored_holdings(run.folder), run.info.get("holdings")
    if held is None or not isinstance(summed, dict):
        return None
    drawn = drawn_of(len(held.clients))
    shown = StoredHoldings(
        held.clients[drawn],
        held.counts[drawn],
        held.parts[drawn],
        None if held.names is None else [held.names[row] for row in drawn.tolist()],
    )
    return View(
        title, details, int(run.summary["num_clients"]), names_in(run.folder, "class"), held, shown, _plain(summed)
    )


def _plain(summed: dict[str, Any]) -> dict[str, float]:
    return {str(key): float(value) for key, value in summed.items()}
