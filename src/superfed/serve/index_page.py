"""The list of all experiments in the folder."""

from collections.abc import Sequence
from urllib.parse import quote

from superfed.report.document import document
from superfed.report.markup import Markup, element
from superfed.report.page.assets import styles
from superfed.report.style import STYLE
from superfed.report.tables import heading, table
from superfed.serve.folder import Overview

EVERY = 5
"""Seconds after which a browser asks again, while anything is under way."""


def index_page(name: str, experiments: Sequence[Overview]) -> str:
    """The newest first."""
    ordered = sorted(experiments, key=lambda one: (one.created, one.place), reverse=True)
    head = [heading(words) for words in ("experiment", "begun", "runs", "rounds")] + [heading("state", "words")]
    words = "Each leads to its page, which keeps itself up to date while its runs train."
    content = [table(words, head, [_row(one) for one in ordered])] if ordered else [_nothing()]
    return document(f"{name}: experiments", name, content, STYLE + styles())


def _row(one: Overview) -> Markup:
    link = element("a", one.place, href=f"/{quote(one.place)}/") if one.problem is None else one.place
    small = element("small", one.name) if one.name != one.place else ""
    bar = element("progress", value=one.rounds, max=one.of, aria_label=f"{one.rounds} of {one.of} rounds")
    under_way = not one.done and one.of > 0
    return element(
        "tr",
        element("th", link, small, scope="row"),
        element("td", one.created.replace("T", " ")[:16]),
        element("td", str(one.runs) if one.problem is None else ""),
        element("td", *([f"{one.rounds:,} of {one.of:,} ", bar] if under_way else [""])),
        element("td", one.state, class_="sentence"),
    )


def _nothing() -> Markup:
    return element("p", "There is no experiment in this folder yet; superfed run CONFIG --out DIR makes one.")
