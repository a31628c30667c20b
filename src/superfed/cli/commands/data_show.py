"""superfed data show"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from superfed.cli.options import AsJson, Changes, Config, DataRoot

if TYPE_CHECKING:
    from superfed.core.samples import FederatedData
    from superfed.experiments.holdings import Holdings
    from superfed.report.holdings_view import View

MOST_DRAWN = 400
ROWS_ON_SCREEN = 20
PICTURES = (".html", ".svg")


def command(
    config: Config,
    changes: Changes = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Draw it into a file too: FILE.html is a page, FILE.svg the picture alone.",
            show_default=False,
        ),
    ] = None,
    clients: Annotated[
        int | None,
        typer.Option(
            "--clients",
            metavar="N",
            help=f"Show the first N clients one by one, up to {MOST_DRAWN}; without it, some of all.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    data_root: DataRoot = None,
) -> None:
    """Show who holds what: how the classes and sizes of a config's data fall on its clients.

    [bold]superfed data show demo data.num_clients=50 --out holdings.html[/bold]
    """
    from rich.console import Console

    from superfed.experiments.assemble import Assembler
    from superfed.experiments.holdings import as_plain, data_settings, details, gather, titles, to_count
    from superfed.experiments.load import load_config, resolve
    from superfed.report.holdings_page import page, picture
    from superfed.report.holdings_terminal import holdings_screen
    from superfed.store.files import write_text

    _check(out, clients)
    runs = resolve(load_config(config, changes))
    assembler = Assembler(data_root)
    settings = data_settings(runs)
    dealt = [assembler.data(setting.run) for setting in settings]
    counted = [gather(data, to_count(data.num_clients, data.num_classes)) for data in dealt]
    names = titles(settings, [data.num_clients for data in dealt])
    views = [
        _view(name, details(setting), data, held, clients)
        for name, setting, data, held in zip(names, settings, dealt, counted, strict=True)
    ]
    if as_json:
        plain = [as_plain(*one) for one in zip(settings, dealt, counted, strict=True)]
        typer.echo(json.dumps(plain, indent=1, ensure_ascii=False))
    else:
        console = Console(highlight=False)
        for place, view in enumerate(views):
            console.print(*([""] if place else []), holdings_screen(view, clients or ROWS_ON_SCREEN), sep="\n")
    if out is not None:
        write_text(out, picture(views) if out.suffix.lower() == ".svg" else page(runs[0].name, views))
        typer.echo(f"picture: {out}", err=as_json)


def _check(out: Path | None, clients: int | None) -> None:
    """What can be said before data is read."""
    from superfed.core.errors import UserError

    if clients is not None and not 1 <= clients <= MOST_DRAWN:
        raise UserError(f"--clients: must be from 1 to {MOST_DRAWN}, not {clients}")
    if out is None:
        return
    if out.suffix.lower() not in PICTURES:
        raise UserError(f"--out: {out} must end in {' or '.join(PICTURES)}")
    if out.is_dir():
        raise UserError(f"--out: {out} is a folder")
    if not out.parent.is_dir():
        raise UserError(f"--out: the folder {out.parent} does not exist")


def _view(title: str, details: str, data: "FederatedData", counted: "Holdings", clients: int | None) -> "View":
    from superfed.experiments.holdings import gather, summary
    from superfed.report.holdings_view import View, drawn_of, evenly

    everybody = data.num_clients
    first = everybody if clients is None else min(clients, everybody)
    drawn = drawn_of(everybody) if clients is None else evenly(first, first)
    class_names = getattr(data, "class_names", None)
    return View(title, details, everybody, class_names, counted, gather(data, drawn), summary(counted))
