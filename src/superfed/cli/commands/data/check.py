"""superfed data check"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from superfed.cli.commands.data import shown
from superfed.cli.commands.data.arguments import AnyWords, Cache, Chosen, chosen
from superfed.cli.options import DataRoot

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from superfed.data.files import FileDataset, Found
    from superfed.data.pool import Pool


def command(datasets: AnyWords = None, data_root: DataRoot = None, cache: Cache = None) -> None:
    """Read datasets wholly: say what is there, whether it is what was published, or how to get what is missing.

    The exit code is 2 if one is missing or broken.

    [bold]superfed data check mnist cifar10[/bold]
    """
    from superfed.core.errors import UserError
    from superfed.data.cache import cache_place

    place, failed = cache_place(cache), False
    for one in chosen(datasets) if datasets else _all_here(data_root):
        try:
            lines = _checked(one, data_root, place)
        except UserError as problem:
            typer.echo(f"superfed: {problem}", err=True)
            failed = True
            continue
        typer.echo("\n  ".join([f"{one.name}: in order", *lines]))
    if failed:
        raise typer.Exit(2)


def _all_here(root: Path | None) -> list[Chosen]:
    from superfed.cli.commands.data.listing import HERE, every_row

    here = [name for name, row in every_row(root, None).items() if row.state == HERE]
    if not here:
        typer.echo("no dataset is here; where one is looked for and how to get it says: superfed data check NAME")
    return chosen(here)


def _checked(one: Chosen, root: Path | None, cache: Path | None) -> list[str]:
    from superfed.data.files import FileDataset
    from superfed.data.synthetic import Synthetic

    if not isinstance(one.settings, FileDataset):
        pool = one.settings.load(root)
        return ["nothing on disk: generated when asked for"] if isinstance(pool, Synthetic) else _counts(pool)
    found = one.settings.find(root)
    with shown.ticking(one.name) as tick:
        pool = one.settings.read(found, tick)
    lines = [f"{shown.files(len(found.files))} in {shown.folder(found.files)} (layout: {found.layout})"]
    return lines + _counts(pool) + _published(one.settings, found) + _prepared(one.settings, found, pool, cache)


def _counts(pool: "Pool") -> list[str]:
    import numpy as np

    shape = "×".join(map(str, pool.input_shape))
    per_class = _range(np.bincount(pool.labels, minlength=pool.num_classes))
    lines = [f"{len(pool):,} samples of shape {shape}, {pool.num_classes} classes with {per_class} samples each"]
    if pool.owners is not None:
        names = pool.owners.names
        lines.append(
            f"{len(names):,} clients with {_range(np.bincount(pool.owners.of, minlength=len(names)))} samples each"
        )
    note = getattr(pool, "note", None)
    return lines + ([note] if note else [])


def _range(counts: "npt.NDArray[np.int64]") -> str:
    low, high = int(counts.min()), int(counts.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _published(settings: "FileDataset[Any]", found: "Found") -> list[str]:
    """One line, unless a file is not the published one, which is an error."""
    from superfed.core.errors import UserError
    from superfed.data.verify import verify

    if not settings.checksums:
        return []
    lines = verify(found, settings.checksums)
    for line in lines:
        if ": differs" in line:
            raise UserError(f"{settings.key}: {line}")
    same = sum(line.endswith(": as published") for line in lines)
    if same == len(lines):
        return ["as published, by checksum"]
    return [f"{same} of {len(lines)} files as published, by checksum; the others have no published one"] if same else []


def _prepared(settings: "FileDataset[Any]", found: "Found", pool: "Pool", cache: Path | None) -> list[str]:
    from superfed.core.errors import UserError
    from superfed.data.cache_entry import DamagedError, Entry

    if cache is None or not (entry := Entry.of(settings, found, cache)).is_there:
        return ["not prepared"]
    try:
        same = entry.open(trust=False).digest() == pool.digest()
    except DamagedError:
        same = False
    if not same:
        raise UserError(f"{entry.path}: is prepared, but does not hold what the files hold; delete it")
    return [f"prepared, and the same, in {entry.path}"]
