"""superfed deploy init"""

from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.commands.deploy.needs import needs_flower


def command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to make.", show_default=False)],
    sites: Annotated[
        str | None,
        typer.Option("--sites", metavar="NAME,…", help="The sites' names, with commas between.", show_default=False),
    ] = None,
    address: Annotated[
        str, typer.Option("--address", metavar="HOST:PORT", help="Where sites will reach the server.")
    ] = "127.0.0.1:8000",
    name: Annotated[str, typer.Option("--name", help="What the federation is called.")] = "federation",
    insecure: Annotated[
        bool, typer.Option("--insecure", help="No encryption and no keys: for tries on this machine only.")
    ] = False,
    add: Annotated[
        str | None, typer.Option("--add", metavar="NAME", help="Add one site to what is there.", show_default=False)
    ] = None,
    renew: Annotated[bool, typer.Option("--renew", help="Make a new certificate for the server.")] = False,
) -> None:
    """Make a federation: an authority, the server's certificate, and a folder with a key for each site.

    [bold]superfed deploy init clinics --sites anna,bob,cleo --address fl.example.org:8000[/bold]

    [bold]superfed deploy init clinics --add dora[/bold]
    """
    needs_flower()
    from superfed.core.errors import UserError
    from superfed.deploy.flower.folder.create import add_site, create_federation, renew_certificate

    if add is not None:
        made = add_site(folder, add)
        typer.echo(f"{made.site(add)}: hand this to {add}, and start the server again so that it knows the key")
        return
    if renew:
        renew_certificate(folder)
        typer.echo(f"{folder}: the server has a new certificate; sites need nothing new")
        return
    if not sites:
        raise UserError("--sites: name the sites, for instance --sites anna,bob,cleo")
    names = [one.strip() for one in sites.split(",") if one.strip()]
    made = create_federation(folder, names, address, name, insecure=insecure)
    typer.echo(f"{folder}: made. Hand each folder in {made.site(names[0]).parent} to its site; then")
    typer.echo(f"  here          superfed deploy server {folder}")
    typer.echo("  at each site  superfed deploy site NAME --data samples.npz --state state")
    typer.echo(f"  here          superfed deploy run CONFIG --federation {folder}")
