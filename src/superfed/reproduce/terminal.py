"""A table of the paper beside ours, for a terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from superfed.report.numbers import NOTHING
from superfed.reproduce.compare import Line, told
from superfed.reproduce.standing import TITLE, headings, sentence, standings
from superfed.reproduce.words import (
    HEADINGS,
    METRICS,
    cells_of,
    counts,
    explanation,
    group_title,
    grouped,
    notes,
)

COLOURS = {"agrees": "green", "higher": "cyan", "lower": "yellow"}


def show(title: str, lines: Sequence[Line], console: Console) -> None:
    console.print(Text(title, style="bold"))
    for group in grouped(lines):
        metric = METRICS.get(group[0].metric, group[0].metric)
        table = _table(f"{group_title(group)} ({metric})")
        for number, heading in enumerate(HEADINGS):
            table.add_column(heading, justify="left" if number in (0, len(HEADINGS) - 1) else "right", no_wrap=True)
        for line in group:
            *numbers, _, word = cells_of(line)
            headline = told(line.headline)
            validated = NOTHING if headline is None else f"{headline.mean:.2f}"  # there is no room for more
            table.add_row(*numbers, validated, Text(word, style=COLOURS.get(word, "dim")))
        console.print(table)
        console.print()
    for words in [counts(lines), *explanation(lines), *notes(lines)]:
        console.print(Text(words, style="dim"))
    _show_standings(lines, console)


def _show_standings(lines: Sequence[Line], console: Console) -> None:
    rows = standings(lines)
    if not rows:
        return
    table = _table(TITLE)
    for number, heading in enumerate(headings(lines)):
        table.add_column(heading, no_wrap=number > 0)
    for title, run, *leads in rows:
        table.add_row(title, run, *(lead.replace(" ", "\n", 1) for lead in leads))  # who they are goes below
    console.print()
    console.print(table)
    console.print()
    console.print(Text(sentence(), style="dim"))


def _table(title: str) -> Table:
    what = Text(title, style="italic")
    return Table(
        title=what, title_justify="left", box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0)
    )
