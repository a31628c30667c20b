"""Everything the page's pictures are drawn from, as one JSON that nothing in it can break out of."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from superfed.report.comparison import Comparison, plain_json
from superfed.report.holdings_stored import names_in, stored_holdings
from superfed.report.loading import Finished
from superfed.report.markup import Markup, element
from superfed.report.page.method_data import curve_data, known, method_data
from superfed.report.page.packed import whole
from superfed.report.page.source import Source
from superfed.report.page.under_way import UnderWay

ROOM = 7_000_000
"""Bytes for what is said of single clients, before they are written as text: a third more."""
_BYTES_A_LAMBDA = 6
_BYTES_BESIDE = 90
"""For each client, about: its number, its samples, the classes it holds, its bins of confidence."""


def page_data(comparison: Comparison, source: Source, under_way: Sequence[UnderWay] = ()) -> dict[str, Any]:
    runs = [run for row in comparison.rows for run in row.members]
    room = clients_with_room(runs)
    return {
        "methods": [method_data(row, i, source, room) for i, row in enumerate(comparison.rows)],
        "under_way": [
            {
                "name": group.name,
                "index": len(comparison.rows) + i,
                "runs": [run.folder.name for run in group.runs],
                "curve": curve_data(group.folders),
            }
            for i, group in enumerate(under_way)
        ],
        "holdings": {key: held for key, run in _by_data(runs, source).items() if (held := _holdings(run, room))},
    }


def clients_with_room(runs: Sequence[Finished]) -> int:
    """For how many clients of each run there is room; the numbers of all clients together do not depend on it."""
    each = sum(_BYTES_A_LAMBDA * len(run.summary["by_lambda"]) + _BYTES_BESIDE for run in runs)
    return max(20, ROOM // max(each, 1))


def embedded(data: dict[str, Any]) -> Markup:
    """The data inside a page. It is no program, and whatever could end it or begin one is written otherwise."""
    text = json.dumps(plain_json(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return element("script", Markup(text), type="application/json", id="page-data")


def _by_data(runs: Sequence[Finished], source: Source) -> dict[str, Finished]:
    """The first run of each that has the same samples on the same clients."""
    found: dict[str, Finished] = {}
    for run in runs:
        found.setdefault(source.data_key(run), run)
    return found


def _holdings(run: Finished, room: int) -> dict[str, Any] | None:
    """Class by class what each client holds, one after another's; ``starts`` says where each one's begin."""
    held = stored_holdings(run.folder)
    if held is None:
        return None
    rows = np.linspace(0, len(held.clients) - 1, min(room, len(held.clients))).round().astype(np.int64)
    counts = held.counts[rows]
    which, classes = np.nonzero(counts)
    starts = np.concatenate([[0], np.cumsum((counts > 0).sum(axis=1))])
    every = held.counts.sum(axis=0)
    return {
        "clients": whole(held.clients[rows]),
        "names": None if held.names is None else [held.names[row] for row in rows.tolist()],
        "class_names": names_in(run.folder, "class"),
        "starts": whole(starts),
        "classes": whole(classes),
        "samples": whole(counts[which, classes]),
        "all": [known(share, 6) for share in every / max(every.sum(), 1)],
    }
