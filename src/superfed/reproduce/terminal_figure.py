"""A figure of the paper in numbers, for a terminal."""

from collections.abc import Sequence
from textwrap import fill

from rich.console import Console
from rich.table import Table
from rich.text import Text

from superfed.reproduce.drawn import Drawn, Section
from superfed.reproduce.ruled import print_whole, ruled

GAP = 2
"""Between columns."""


def show_figure(title: str, drawn: Drawn, console: Console) -> None:
    console.print(Text(title, style="bold"))
    for section in drawn.sections:
        if section.rows:
            print_whole(_table(section, console.width), console)
            console.print()
        elif section.heading:
            console.print(Text(section.heading, style="italic"))
        if section.remarks:
            console.print(_said(section.remarks))
            console.print()
    for sentence in drawn.sentences:
        console.print(Text(sentence, style="dim"))


def _said(remarks: Sequence[str]) -> Table:
    """A list, if there are several."""
    said = Table.grid(padding=(0, 1, 0, 0))
    for remark in remarks:
        said.add_row(*(["•"] if len(remarks) > 1 else []), Text(remark), style="dim")
    return said


def _table(section: Section, width: int) -> Table:
    table = ruled(section.heading)
    headings, *rows = fitted([section.headings, *(row.words for row in section.rows)], width)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def fitted(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Cells by row, each broken between its words where the rows would be wider than the terminal; the first of a row
    stays whole."""
    columns = [list(cells) for cells in zip(*rows, strict=True)]
    if sum(max(len(cell) for cell in cells) + GAP for cells in columns) > width:
        for cells in columns[1:]:
            longest = max((len(word) for cell in cells for word in cell.split()), default=1)
            cells[:] = [fill(cell, longest, break_on_hyphens=False) for cell in cells]
    return [list(row) for row in zip(*columns, strict=True)]
