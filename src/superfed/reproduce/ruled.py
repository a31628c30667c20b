"""How all tables of the paper look in a terminal: a rule below the headings, and nothing else."""

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text


def ruled(title: str) -> Table:
    """An empty one; without a title if that is empty."""
    what = Text(title, style="italic") if title else None
    return Table(
        title=what, title_justify="left", box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0)
    )
