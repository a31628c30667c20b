"""Samples from Parquet and CSV files."""

from pathlib import Path
from typing import Any

from superfed.data.own_columns import Chosen, Columns
from superfed.data.own_files import read_table
from superfed.export.card import Card
from superfed.export.samples.given import Given, Wanted, numbered

LABELS = ("label", "y")
SPLIT = "split"


def read_rows(path: Path, card: Card, wanted: Wanted) -> Given:
    """Columns as in the run's own table, where it had one; labels, if there is a column of them."""

    def choose(schema: Any, where: str) -> Chosen:
        return _columns(schema.names, card, wanted).choose(schema, where)

    table, chosen = read_table(path, choose)
    where = str(path)
    x = chosen.inputs_in(table, where).x
    return Given(where, x, numbered(len(x)), chosen.labels_in(table, where, card.num_classes))


def _columns(there: list[str], card: Card, wanted: Wanted) -> Columns:
    known = card.columns or {}
    label = wanted.label or next((name for name in (known.get("label"), *LABELS) if name in there), None)
    inputs = wanted.inputs or next((name for name in (known.get("inputs"), "x") if name in there), None)
    others = tuple(dict.fromkeys(name for name in (*known.get("others", ()), SPLIT) if name in there))
    return Columns(label, inputs, None, tuple(name for name in others if name not in (label, inputs)))
