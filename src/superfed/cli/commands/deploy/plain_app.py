"""superfed deploy app"""

from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.commands.deploy.needs import needs_flower
from superfed.cli.commands.deploy.options import Deadline, Gathering, MinReplies
from superfed.cli.options import Changes, Config


def command(
    config: Config,
    changes: Changes = None,
    to: Annotated[
        Path, typer.Option("--to", metavar="DIR", help="The folder to make, for flwr run.", show_default=False)
    ] = Path("app"),
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where the run is kept, on the server's machine.")
    ] = Path("run"),
    sites: Annotated[
        str | None,
        typer.Option("--sites", metavar="NAME,…", help="The sites' names, with commas between.", show_default=False),
    ] = None,
    simulated: Annotated[
        int | None,
        typer.Option(
            "--simulated", min=1, metavar="N", help="So many sites of Flower's simulation.", show_default=False
        ),
    ] = None,
    deadline: Deadline = 600.0,
    min_replies: MinReplies = None,
    wait: Gathering = 300.0,
) -> None:
    """Write a run as an app for flwr run: for a SuperLink that you run yourself, or for Flower's simulation.

    Sites are known by the names that their nodes give, so let only yours reach that SuperLink.

    [bold]superfed deploy app my.yaml --sites anna,bob --to app --out run[/bold]

    [bold]superfed deploy app demo algorithm=superfed seed=0 data.num_clients=100 --simulated 100[/bold]
    """
    needs_flower()
    from uuid import uuid4

    from superfed.core.errors import UserError
    from superfed.deploy.flower.agreement import agreed
    from superfed.deploy.flower.apps.folder import write_app
    from superfed.deploy.flower.folder.federation import check_names
    from superfed.deploy.flower.programs.submit import one_run
    from superfed.deploy.flower.server.book import Book
    from superfed.deploy.flower.server.rules import Rules
    from superfed.deploy.flower.server.terms import Terms
    from superfed.experiments.load import load_config

    if (sites is None) == (simulated is None):
        raise UserError("name the sites by --sites, or say by --simulated how many there are")
    names = [f"site-{i}" for i in range(simulated or 0)] if sites is None else [one.strip() for one in sites.split(",")]
    check_names(names)
    settings = one_run(load_config(config, changes), config)
    rules = Rules(deadline=deadline, min_replies=min_replies, gathering=wait)
    terms = Terms(agreed(uuid4().hex, settings, tuple(names)), rules)
    if (to / "pyproject.toml").exists():
        raise UserError(f"{to}: holds an app already; choose another --to")
    if out.exists() and any(out.iterdir()):
        raise UserError(f"{out}: is there already and not empty; choose another --out")
    Book(out).begin(terms.to_json())
    write_app(to, terms, out, out / "states" if simulated else None)
    typer.echo(f"{to}: made; start it with: flwr run {to} CONNECTION")
    typer.echo(f"{out / 'outcome.json'} will say how it ended, whatever flwr run returns")
