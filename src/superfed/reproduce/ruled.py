"""How all tables of the paper look in a terminal: a rule below the headings, and nothing else."""

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text


def ruled(title: str) -> Table:
    """An empty one; without a title if that is empty."""
    what = Text(title, style="italic") if title else None
    return Table(
        title=what, title_justify="left", box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0)
    )


def print_whole(table: Table, console: Console) -> None:
    """As wide as it has to be: a narrower terminal folds its lines, but no number and no name is cut."""
    least = sum(_least(column) + 2 for column in table.columns)  # blanks between two
    usual, console.width = console.width, max(console.width, least)
    console.print(table, crop=False)
    console.width = usual


def _least(column: Column) -> int:
    texts = [str(text) for text in (column.header, *column.cells)]
    pieces = [piece for text in texts for piece in (text.splitlines() if column.no_wrap else text.split())]
    return max(map(cell_len, pieces), default=0)
