"""Who holds what, for a terminal: a heat map in block characters, a histogram of sizes, and sentences."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from superfed.report.holdings_view import IntArray, View, binned, evenly, grouped, in_words, shortened

SHADES = "·░▒▓█"
_PLAIN = str.maketrans(f"{SHADES}–…", ".-+x#-.")  # for terminals that know ASCII alone
_LONGEST_NAME = 16
_WIDEST_CELL = 4
_WIDEST_BAR = 24
_MOST_BINS = 8
_MOST_NAMED = 26
_SIZE = "samples"

Line = list[tuple[str, str]]
"""Pieces of text with their styles."""


def holdings_screen(view: View, most_rows: int) -> RenderableType:
    """``view`` with at most so many clients one by one."""
    return _Rendered(view, evenly(len(view.shown.clients), most_rows))


class _Rendered:
    """What fits is decided when the width is known."""

    def __init__(self, view: View, rows: IntArray) -> None:
        self.view, self.rows = view, rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._lines(options.max_width):
            yield Text.assemble(*((p.translate(_PLAIN), s) for p, s in line) if options.ascii_only else line)

    def _lines(self, width: int) -> Iterator[Line]:
        yield from _paragraph(self.view.title, width, "bold")
        yield from _paragraph(self.view.details, width, "dim")
        yield []
        heat = _HeatMap(self.view, self.rows, width)
        yield from heat.lines()
        if not (heat.bars and len(self.rows) == self.view.num_clients):
            yield from _histogram(self.view, width)
        yield []
        for key, words in in_words(self.view).items():
            first, *more = wrap(f"{key}: {words}", width, subsequent_indent="  ")
            yield [(first[: len(key)], "bold"), (first[len(key) :], "")]
            yield from ([(line, "")] for line in more)


class _HeatMap:
    """A row for each client, a column for each class, or for some together where there is no room."""

    def __init__(self, view: View, rows: IntArray, width: int) -> None:
        self.view, self.rows, self.width = view, rows, width
        self.names = [view.client_name(row) for row in rows.tolist()]
        self.sizes = view.shown.counts[rows].sum(axis=1).tolist()
        self.margin = min(max(map(cell_len, ("client", *self.names))), _LONGEST_NAME, max(6, width // 4))
        self.size_width = max(len(_SIZE), *(len(f"{size:,}") for size in self.sizes))
        room = max(1, width - self.margin - self.size_width - 4)
        self.counts, self.spans = grouped(view.shown.counts[rows], room)
        self.cell = min(_WIDEST_CELL, room // len(self.spans))
        spare = room - self.cell * len(self.spans) - 2
        self.bars = min(spare, _WIDEST_BAR) if spare >= 8 else 0

    def lines(self) -> Iterator[Line]:
        if len(self.rows) < self.view.num_clients:
            yield from _paragraph(f"{self.view.some(self.rows)}:", self.width, "")
        ruler = set_cell_size(self._ruler(), self.cell * len(self.spans))
        yield [(f"{'client':>{self.margin}}  ", "dim"), (ruler, "dim"), (f"  {_SIZE:>{self.size_width}}", "dim")]
        for name, counts, size in zip(self.names, self.counts, self.sizes, strict=True):
            line: Line = [(f"{_fitted(name, self.margin)}  ", "")]
            line += [(_cell(level, self.cell), "dim" if level == 0 else "cyan") for level in _levels(counts)]
            line.append((f"  {size:>{self.size_width},}", ""))
            if self.bars:
                line.append(("  " + _bar(size, max(self.sizes), self.bars), "cyan"))
            yield line
        legend = f"{SHADES[4]} a client's commonest class, {' '.join(SHADES[3:0:-1])} fewer, {SHADES[0]} none"
        yield from _paragraph(legend, self.width, "dim")
        if (together := self.spans[0][1] + 1) > 1:
            words = f"Each column is {together} classes that follow each other, taken together."
            yield from _paragraph(words, self.width, "dim")
        elif self.view.class_names is not None and len(self.spans) <= _MOST_NAMED and not self._named:
            names = ", ".join(f"{i} {self.view.class_name(i)}" for i in range(len(self.spans)))
            yield from _paragraph(f"classes: {names}", self.width, "dim")

    @property
    def _named(self) -> bool:
        """Whether names of classes are short enough to stand above them: then they are letters or numbers."""
        most = max(1, self.cell - 1)
        return self.spans[0] == (0, 0) and all(cell_len(self.view.class_name(first)) <= most for first, _ in self.spans)

    def _ruler(self) -> str:
        """The classes above their columns, as many as there is room for."""
        if self._named:
            return "".join(set_cell_size(self.view.class_name(first), self.cell) for first, _ in self.spans)
        longest = len(str(self.spans[-1][0])) + 1
        every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n * self.cell >= longest)
        ruler = "".join(f"{first:<{every * self.cell}}" for first, _ in self.spans[::every]).rstrip()
        last = str(self.spans[::every][-1][0])
        return ruler if len(ruler) <= self.cell * len(self.spans) else ruler.removesuffix(last)


def _histogram(view: View, width: int) -> Iterator[Line]:
    sizes = view.counted.counts.sum(axis=1)
    bins = binned(sizes, _MOST_BINS)
    if len(bins) == 1:
        return
    margin = max(len(_SIZE), *(len(one.label) for one in bins))
    most = max(one.clients for one in bins)
    room = max(1, min(width - margin - len(f"{most:,}") - 3, 2 * _WIDEST_BAR))
    yield []
    yield [(f"{_SIZE:>{margin}}  clients", "dim")]
    for one in bins:
        bar = _bar(one.clients, most, room)
        yield [(f"{one.label:>{margin}}  ", ""), (bar, "cyan"), (f"{' ' if bar else ''}{one.clients:,}", "")]


def _levels(counts: Sequence[int]) -> list[int]:
    """0 for none, then 1 to 4 by quarters of the largest."""
    shares = np.asarray(counts) / max(1, max(counts))
    return [int(level) for level in np.ceil(shares * 4)]


def _cell(level: int, width: int) -> str:
    """One character is enough to say that there is nothing."""
    block = SHADES[level] * (1 if level == 0 else max(1, width - 1))
    return block.ljust(width)


def _bar(value: int, most: int, width: int) -> str:
    return SHADES[4] * max(round(width * value / most), int(value > 0))


def _fitted(name: str, width: int) -> str:
    """Shortened to ``width`` and pushed to the right; a character may be two columns wide."""
    short = next(text for most in range(width, -1, -1) if cell_len(text := shortened(name, most)) <= width)
    return " " * (width - cell_len(short)) + short


def _paragraph(words: str, width: int, style: str) -> Iterator[Line]:
    yield from ([(line, style)] for line in wrap(words, width))
