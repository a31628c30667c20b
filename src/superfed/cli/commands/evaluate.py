"""superfed evaluate"""

from typing import Annotated

import typer

from superfed.cli.options import DataRoot, RunPath


def command(
    run: RunPath,
    lambdas: Annotated[
        int | None,
        typer.Option(
            "--lambdas", min=2, help="How many λ from 0 to 1; as in the config without it.", show_default=False
        ),
    ] = None,
    data_root: DataRoot = None,
) -> None:
    """Evaluate every client of a finished run anew, and print the table.

    [bold]superfed evaluate runs/demo-20260101-120000 --lambdas 21[/bold]
    """
    from rich.console import Console

    from superfed.cli.finish import failures_kept, show_results
    from superfed.cli.progress import watching
    from superfed.experiments.runner import reevaluate
    from superfed.store.layout import find_experiment

    console = Console()
    with failures_kept() as failures, watching(console) as observer:
        reevaluate(run, data_root, lambdas, observer)
    show_results(find_experiment(run)[0].path, console, failures)
