"""superfed data list"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from superfed.cli.commands.data import shown
from superfed.cli.commands.data.arguments import Cache, needed
from superfed.cli.options import AsJson, DataRoot

if TYPE_CHECKING:
    from superfed.data.cache_entry import Entry

HERE, NOT_HERE, NOTHING_NEEDED, YOURS = "here", "not here", "nothing needed", "yours"


@dataclass
class Row:
    """What is known of one dataset.

    ``prepared`` is whether the files as they are here are, with default settings; ``cache_bytes`` are of all settings.
    """

    state: str
    layout: str | None = None
    folder: str | None = None
    prepared: bool | None = None
    cache_bytes: int = 0
    hub: str | None = None
    needed: tuple[str, ...] = ()
    problem: str | None = None


def command(data_root: DataRoot = None, cache: Cache = None, as_json: AsJson = False) -> None:
    """List the datasets: which are here, where, and which are prepared for quick loading.

    [bold]superfed data list --data-root data[/bold]
    """
    from superfed.data.cache import cache_place

    place = cache_place(cache)
    rows = every_row(data_root, place)
    if as_json:
        typer.echo(json.dumps({name: asdict(row) for name, row in rows.items()}, indent=1, ensure_ascii=False))
        return
    _print(rows)
    typer.echo(f"\ndata root: {_root_shown(data_root)}")
    typer.echo(f"cache: {_cache_shown(place)}")
    missing = [name for name, row in rows.items() if row.state == NOT_HERE]
    if missing:
        typer.echo(f"how to get what is not here: superfed data check {missing[0]}")


def every_row(root: Path | None, place: Path | None) -> dict[str, Row]:
    from superfed.data.cache_entry import entries
    from superfed.data.registry import DATASETS

    kept = entries(place)
    return {name: _row(name, entry.settings, root, place, kept) for name, entry in DATASETS.items()}


def _row(name: str, kind: Any, root: Path | None, place: Path | None, kept: "list[Entry]") -> Row:
    from superfed.core.errors import UserError
    from superfed.data.cache_entry import Entry
    from superfed.data.files import FileDataset

    if not issubclass(kind, FileDataset):
        return Row(NOTHING_NEEDED)
    in_cache = sum(entry.size() for entry in kept if entry.key == name)
    row = Row(NOT_HERE, cache_bytes=in_cache, hub=kind.hub)
    row.needed = needed(kind)
    if row.needed:
        row.state = YOURS
        return row
    try:
        settings = kind()
        found = settings.find(root)
        row.prepared = place is not None and Entry.of(settings, found, place).is_there
    except UserError as problem:
        row.problem = str(problem)
        return row
    row.state, row.layout, row.folder = HERE, found.layout, shown.folder(found.files)
    return row


def _print(rows: dict[str, Row]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("dataset", no_wrap=True, style="cyan")
    for title in ("here", "layout", "prepared"):
        table.add_column(title, no_wrap=True)
    table.add_column("in cache", no_wrap=True, justify="right")
    table.add_column("where", overflow="fold")
    for name, row in rows.items():
        state = f"yours: {' '.join(f'{key}=…' for key in row.needed)}" if row.state == YOURS else row.state
        prepared = {None: "", True: "yes", False: "no"}[row.prepared]
        in_cache = shown.size(row.cache_bytes) if row.cache_bytes else ""
        table.add_row(name, state, row.layout or "", prepared, in_cache, row.folder or "")
    Console().print(table)


def _root_shown(root: Path | None) -> str:
    if root is None:
        return "none is set (SUPERFED_DATA or --data-root)"
    return f"{root}" if root.is_dir() else f"{root} (there is no such folder)"


def _cache_shown(place: Path | None) -> str:
    from superfed.data.cache_entry import entries

    total = sum(entry.size() for entry in entries(place))
    return "off" if place is None else f"{place}, {shown.size(total)}; it may be deleted at any time"
