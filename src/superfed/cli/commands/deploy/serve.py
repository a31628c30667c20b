"""superfed deploy serve"""

import time
from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.commands.deploy.needs import needs_flower
from superfed.cli.commands.deploy.options import FolderOption


def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a federation's run.", show_default=False)],
    federation: FolderOption = Path("federation"),
    minutes: Annotated[float, typer.Option("--minutes", min=0.1, help="For how long.")] = 10.0,
) -> None:
    """Hand what a run has learnt to newcomers, who come with superfed deploy join.

    [bold]superfed deploy serve runs/my-20260101-120000 --federation clinics --minutes 30[/bold]
    """
    needs_flower()
    from contextlib import suppress

    from superfed.cli.commands.deploy.ending import ending_all
    from superfed.core.errors import UserError
    from superfed.deploy.flower.folder.federation import open_federation
    from superfed.deploy.flower.programs.control import Control
    from superfed.deploy.flower.programs.submit import OVER, offer

    folder = open_federation(federation)
    with Control(folder) as control, ending_all():
        run_id = offer(control, folder, run.absolute(), minutes)
        typer.echo(f"{run}: newcomers are handed its model for {minutes:g} minutes")
        try:
            while not (told := control.status(run_id))[0].startswith(OVER):
                time.sleep(1.0)
        except KeyboardInterrupt:
            with suppress(UserError):
                control.stop(run_id)
            raise
    if told[0] != "finished:completed":
        raise UserError(f"Flower says of it: {told[0]}: {told[1]}")
