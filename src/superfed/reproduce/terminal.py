"""A table of the paper beside ours, for a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from superfed.report.numbers import NOTHING
from superfed.report.readings import HEADLINE
from superfed.reproduce.aside import Aside
from superfed.reproduce.below import below
from superfed.reproduce.compare import Line, mean_of
from superfed.reproduce.ruled import print_whole, ruled
from superfed.reproduce.words import (
    POINTS,
    STANDARD,
    cells_of,
    counts,
    group_heading,
    headings,
    laid_out,
)

COLOURS = {"agrees": "green", "higher": "cyan", "lower": "yellow"}


def show(title: str, lines: Sequence[Line], console: Console) -> None:
    """Columns of which nothing is there are named and not laid out: the reason that was given before stays in sight."""
    console.print(Text(title, style="bold"))
    there, sentences = laid_out(lines)
    for group in there:
        table = ruled(group_heading(group))
        words = headings(group)
        without = POINTS if STANDARD in words else None  # there is no room for both
        shown = [word for word in words if word != without]
        for number, word in enumerate(shown):
            table.add_column(word, justify="left" if number in (0, len(shown) - 1) else "right", no_wrap=True)
        for line in group:
            cells = dict(zip(words, cells_of(line, group), strict=True))
            for brief, figures in ((HEADLINE, line.headline), (STANDARD, line.standard)):  # there is no room for more
                if brief in cells:
                    cells[brief] = f"{mean_of(figures):.2f}" if figures else NOTHING
            *numbers, said = (cells[word] for word in shown)
            table.add_row(*numbers, Text(said, style=COLOURS.get(said, "dim")))
        print_whole(table, console)
        console.print()
    for sentence in [counts(lines), *sentences]:
        console.print(Text(sentence, style="dim"))
    for aside in below(lines):
        _show_aside(aside, console)


def _show_aside(aside: Aside, console: Console) -> None:
    table = ruled(aside.title)
    for number, word in enumerate(aside.headings):
        table.add_column(word.replace(", ", ",\n"), no_wrap=number > 0)
    for title, run, *leads in aside.rows:
        table.add_row(title, run, *(lead.replace(" ", "\n", 1) for lead in leads))  # who they are goes below
    console.print()
    print_whole(table, console)
    console.print()
    console.print(Text(aside.sentence, style="dim"))
