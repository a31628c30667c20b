"""superfed data: what lies on disk, and getting it there."""

import typer

from superfed.cli.commands import data_show
from superfed.cli.commands.data import check, fetch, listing, prepare

app = typer.Typer(
    name="data",
    help="""Look after datasets: which are here, whether they are whole, fetch and prepare them, see who holds what.

    [bold]superfed data list[/bold]
    """,
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.command("list")(listing.command)
app.command("check")(check.command)
app.command("fetch")(fetch.command)
app.command("prepare")(prepare.command)
app.command("show")(data_show.command)
