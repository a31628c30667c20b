"""A table for a terminal, of which no number may be cut: columns give way whole, and names are folded."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

_NARROWEST_TITLE = 11


@dataclass(frozen=True)
class Column:
    """A heading, which may have several lines, and a cell for each row."""

    name: str
    heading: str
    cells: Sequence[Text]

    @property
    def width(self) -> int:
        return max(cell_len(line) for text in (self.heading, *self._plain) for line in text.split("\n"))

    @property
    def _plain(self) -> list[str]:
        return [cell.plain for cell in self.cells]


def that_fit(
    columns: Sequence[Column], titles: Sequence[Text], width: int, giving_way: Sequence[str]
) -> tuple[list[Column], list[str]]:
    """As many columns as fit beside the titles, and the headings of those that gave way, in the order given."""
    room = width - min(_widest(titles), _NARROWEST_TITLE)
    kept = list(columns)
    left_out = []
    for name in giving_way:
        if sum(column.width + 1 for column in kept) <= room:
            break
        left_out += [column.heading.replace("\n", " ") for column in kept if column.name == name]
        kept = [column for column in kept if column.name != name]
    return kept, left_out


def drawn(titles: Sequence[Text], columns: Sequence[Column], width: int) -> Table:
    """A row for each title, as loose as ``width`` allows."""
    wanted = _widest(titles)
    room = width - sum(column.width + 1 for column in columns)
    gap = max(0, min(2, (room - wanted) // max(1, len(columns))))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap, 0, 0))
    table.add_column("", width=max(1, min(wanted, room - gap * len(columns))), overflow="fold")
    for column in columns:
        table.add_column(column.heading, width=column.width, justify="right", no_wrap=True, vertical="top")
    for i, title in enumerate(titles):
        table.add_row(title, *(column.cells[i] for column in columns))
    return table


def _widest(titles: Sequence[Text]) -> int:
    return max(cell_len(line) for title in titles for line in title.plain.split("\n"))
