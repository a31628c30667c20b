"""superfed deploy demo"""

from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.commands.deploy.needs import needs_flower


def command(
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How many rounds.")] = 6,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="DIR", help="Keep the federation, states and logs here.", show_default=False),
    ] = None,
) -> None:
    """See a federation: a server and four sites on this machine, with certificates and keys made on the spot.

    Nothing is downloaded, nothing leaves this machine, and no process is left behind.

    [bold]superfed deploy demo[/bold]
    """
    needs_flower()
    from rich.console import Console

    from superfed.cli.commands.deploy.ending import ending_all
    from superfed.cli.commands.deploy.shown import Lines, show_beside, show_results
    from superfed.deploy.flower.programs.demo import demo

    console = Console()
    with ending_all():
        results, beside = demo(
            rounds, keep, Lines(console), lambda words: console.print(words, style="dim", highlight=False)
        )
    show_results(results, console)
    show_beside(beside, console)
