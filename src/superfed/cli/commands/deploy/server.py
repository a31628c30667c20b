"""superfed deploy server"""

from typing import Annotated

import typer

from superfed.cli.commands.deploy.needs import needs_flower
from superfed.cli.commands.deploy.options import Folder


def command(
    folder: Folder,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; from elsewhere only sites get in.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option("--port", min=1, max=65535, help="The port, if not that of the federation's address."),
    ] = None,
) -> None:
    """Run the federation's server until Ctrl-C: Flower's SuperLink with encryption, and sites known by their keys.

    [bold]superfed deploy server clinics[/bold]

    [bold]superfed deploy server clinics --host 0.0.0.0[/bold]
    """
    needs_flower()
    from superfed.cli.commands.deploy.ending import ending_all
    from superfed.deploy.flower.folder.federation import open_federation
    from superfed.deploy.flower.programs.server_process import run_server

    federation = open_federation(folder)
    with ending_all(f"superfed deploy server {folder}"):
        run_server(federation, host, port or federation.port, typer.echo)
