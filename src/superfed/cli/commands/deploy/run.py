"""superfed deploy run"""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.commands.deploy.needs import needs_flower
from superfed.cli.commands.deploy.options import Deadline, FolderOption, Gathering, MinReplies
from superfed.cli.options import Changes, Config


def command(
    config: Config,
    changes: Changes = None,
    federation: FolderOption = Path("federation"),
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where the run is kept; runs/NAME-DATE-TIME without it.",
            show_default=False,
        ),
    ] = None,
    deadline: Deadline = 600.0,
    min_replies: MinReplies = None,
    wait: Gathering = 300.0,
    classes: Annotated[
        int | None,
        typer.Option("--classes", min=2, metavar="N", help="How many classes there are, if no site may hold the last."),
    ] = None,
) -> None:
    """Train on the federation whose server runs here, then have every site evaluate its own model.

    [bold]superfed deploy run my.yaml --federation clinics[/bold]

    [bold]superfed deploy run demo algorithm=superfed seed=0 data.num_clients=3 -f clinics --min-replies 2[/bold]
    """
    needs_flower()
    from superfed.cli.commands.deploy.follow import follow_here
    from superfed.deploy.flower.folder.federation import open_federation
    from superfed.deploy.flower.programs.control import Control
    from superfed.deploy.flower.programs.submit import make_terms, one_run, prepare
    from superfed.deploy.flower.server.rules import Rules
    from superfed.experiments.load import load_config

    folder = open_federation(federation)
    settings = load_config(config, changes)
    rules = Rules(deadline=deadline, min_replies=min_replies, gathering=wait)
    terms = make_terms(folder, one_run(settings, config), rules, classes)
    where = out or Path("runs") / f"{settings['name']}-{datetime.now():%Y%m%d-%H%M%S}"
    with Control(folder) as control:
        control.nodes()  # a server that does not answer is said before anything is written
        follow_here(control, prepare(where, terms), federation)
