"""superfed data prepare"""

import time

import typer

from superfed.cli.commands.data import shown
from superfed.cli.commands.data.arguments import Cache, Words, chosen
from superfed.cli.options import DataRoot


def command(datasets: Words, data_root: DataRoot = None, cache: Cache = None) -> None:
    """Decode datasets once and keep them as memory-mapped arrays, which load in milliseconds.

    Runs do the same when they first read a dataset.

    [bold]superfed data prepare mnist cifar100 labels=coarse[/bold]
    """
    from superfed.core.errors import UserError
    from superfed.data.cache import cache_place, prepare
    from superfed.data.files import FileDataset

    wanted = chosen(datasets)
    place = cache_place(cache)
    if place is None:
        raise UserError("the cache is off; name a folder for prepared datasets by --cache or SUPERFED_CACHE")
    for name, settings in ((one.name, one.settings) for one in wanted):
        if not isinstance(settings, FileDataset):
            typer.echo(f"{name}: needs no preparing")
            continue
        found = settings.find(data_root)
        began = time.monotonic()
        with shown.ticking(name) as tick:
            _, entry, fresh = prepare(settings, found, place, tick)
        how = f"prepared in {time.monotonic() - began:.1f} s" if fresh else "prepared already"
        typer.echo(f"{name}: {how}, {shown.size(entry.size())} in {entry.path}")
