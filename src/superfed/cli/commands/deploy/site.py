"""superfed deploy site"""

from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.commands.deploy.needs import needs_flower
from superfed.cli.commands.deploy.options import Data, SiteFolderArgument
from superfed.cli.options import DataRoot


def command(
    folder: SiteFolderArgument,
    state: Annotated[
        Path | None,
        typer.Option("--state", metavar="DIR", help="Where the personal model is kept.", show_default=False),
    ] = None,
    data: Data = None,
    begin_again: Annotated[
        bool,
        typer.Option("--begin-again", help="If the personal model is lost, begin with a first one and do not refuse."),
    ] = False,
    data_root: DataRoot = None,
) -> None:
    """Run a site until Ctrl-C: it trains when the server asks; its samples and its personal model stay here.

    [bold]superfed deploy site anna --data samples.npz --state state[/bold]
    """
    needs_flower()
    from superfed.cli.commands.deploy.ending import ending_all
    from superfed.core.errors import UserError
    from superfed.deploy.flower.programs.site_process import SiteOptions, run_site
    from superfed.deploy.flower.programs.supernode import open_site

    here = open_site(folder)
    place, own = state or here.state, data or here.data
    if place is None:
        raise UserError(f"--state: say where the personal model is kept, here or in {folder / 'site.yaml'}")
    if own is not None and not own.exists():
        raise UserError(f"{own}: there is no such file")
    with ending_all():
        run_site(SiteOptions(here, place, own, data_root, begin_again), typer.echo)
