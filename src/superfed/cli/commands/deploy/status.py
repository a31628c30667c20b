"""superfed deploy status"""

import typer

from superfed.cli.commands.deploy.needs import needs_flower
from superfed.cli.commands.deploy.options import Folder
from superfed.cli.options import AsJson


def command(folder: Folder, as_json: AsJson = False) -> None:
    """Say which sites are there, and how the federation's runs are.

    [bold]superfed deploy status clinics[/bold]
    """
    needs_flower()
    import json

    from superfed.deploy.flower.folder.federation import open_federation
    from superfed.deploy.flower.programs.status import status_of

    told = status_of(open_federation(folder))
    if as_json:
        typer.echo(json.dumps(told, indent=1))
        return
    typer.echo(f"server: {told['server']}")
    for site, state in told["sites"].items():
        typer.echo(f"  {site}: {state}")
    for run, state in told["runs"].items():
        typer.echo(f"run {run}: {state}")
