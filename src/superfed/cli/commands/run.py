"""superfed run"""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.elsewhere import GpusPerTask, RayAddress, Spreading, StoreUrl
from superfed.cli.options import Changes, Config, DataRoot


def command(
    config: Config,
    changes: Changes = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Where the runs go; runs/NAME-DATE-TIME without it.", show_default=False
        ),
    ] = None,
    track: Annotated[
        list[str] | None,
        typer.Option(
            "--track",
            metavar="NAME",
            help="Follow it in tensorboard, wandb or mlflow too; may be given again.",
            show_default=False,
        ),
    ] = None,
    ray: RayAddress = None,
    gpus_per_task: GpusPerTask = None,
    store: StoreUrl = None,
    spread: Spreading = False,
    data_root: DataRoot = None,
) -> None:
    """Run an experiment: train, evaluate every client, print the table and write the page.

    [bold]superfed run demo[/bold]

    [bold]superfed run demo seed=0 training.rounds=10[/bold]

    [bold]superfed run my.yaml algorithm.nu=\\[0,1,2,5] --out runs/nu[/bold]

    [bold]superfed run demo --track tensorboard[/bold]

    [bold]superfed run demo --ray local[/bold]
    """
    from rich.console import Console

    from superfed.cli.elsewhere import place_for
    from superfed.cli.finish import failures_kept, show_results
    from superfed.cli.interrupt import Heeding, stoppable
    from superfed.cli.progress import watching
    from superfed.experiments.load import also_tracked, load_config
    from superfed.experiments.runner import start

    settings = also_tracked(load_config(config, changes), track or [])
    where = out or Path("runs") / f"{settings['name']}-{datetime.now():%Y%m%d-%H%M%S}"
    console = Console()
    with (
        place_for(ray, gpus_per_task, store, spread) as place,
        stoppable(where, options=place.options) as stop,
        failures_kept() as failures,
        watching(console) as observer,
    ):
        start(settings, where, data_root, Heeding(observer, stop), place)
    show_results(where, console, failures)
