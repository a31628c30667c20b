"""superfed deploy resume"""

from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.commands.deploy.needs import needs_flower
from superfed.cli.commands.deploy.options import FolderOption


def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a federation's run.", show_default=False)],
    federation: FolderOption = Path("federation"),
) -> None:
    """Go on with a run after its last completed round: after a stop, a crash, or too few replies.

    [bold]superfed deploy resume runs/my-20260101-120000 --federation clinics[/bold]
    """
    needs_flower()
    from superfed.cli.commands.deploy.follow import follow_here
    from superfed.deploy.flower.folder.federation import open_federation
    from superfed.deploy.flower.programs.control import Control
    from superfed.deploy.flower.programs.submit import reopen

    with Control(open_federation(federation)) as control:
        follow_here(control, reopen(run), federation)
