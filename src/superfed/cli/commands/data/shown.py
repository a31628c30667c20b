"""How the data commands show things."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from superfed.data.files import Tick


def size(count: int) -> str:
    from rich.filesize import decimal

    return decimal(count)


def files(count: int) -> str:
    return f"{count:,} file{'s' if count != 1 else ''}"


def folder(paths: Sequence[Path]) -> str:
    """The innermost that holds them all."""
    return os.path.commonpath([path.absolute().parent for path in paths])


@contextmanager
def ticking(title: str) -> Iterator["Tick"]:
    """A bar on a terminal, gone when the block ends; nothing elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from superfed.data.files import silent

    console = Console(stderr=True)
    if not console.is_terminal:
        yield silent
        return
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=None), TimeRemainingColumn(compact=True))
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)
