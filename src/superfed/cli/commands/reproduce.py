"""superfed reproduce"""

from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.options import DataRoot


def command(
    target: Annotated[str, typer.Argument(metavar="TABLE", help="table1, table2, table3, table4 or table5.")],
    changes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[engine.KEY=VALUE]…", help="How it is computed, as in engine.state=disk.", show_default=False
        ),
    ] = None,
    scale: Annotated[
        str, typer.Option(help="full is the paper, short a laptop's evening, smoke minutes on made-up data.")
    ] = "full",
    only: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Cells whose names hold one of these, such as mnist/k50.", show_default=False),
    ] = None,
    seeds: Annotated[int, typer.Option(metavar="N", help="So many runs of each cell.")] = 1,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what would be run and how long it takes; run nothing.")
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where runs and pages go, and are found again.")
    ] = Path("runs/reproduce"),
    data_root: DataRoot = None,
) -> None:
    """Run a table of the paper again, and lay our numbers beside the published ones.

    What is finished is not run again, and what was interrupted goes on, if the command is given again.

    [bold]superfed reproduce table1 --plan[/bold]

    [bold]superfed reproduce table1 --scale smoke[/bold]

    [bold]superfed reproduce table1 --only mnist/k50 --seeds 3 --data-root DIR[/bold]
    """
    from rich.console import Console

    from superfed.cli.finish import failures_kept
    from superfed.cli.interrupt import Heeding, stoppable
    from superfed.cli.progress import watching
    from superfed.cli.reproduce_plan import show_plan
    from superfed.cli.reproduced import chosen, in_jobs, show_tables
    from superfed.reproduce.cells import runs
    from superfed.reproduce.plan import Plan
    from superfed.reproduce.running import engine_settings, run_all, split_by_data

    console = Console()
    wanted = chosen(target, scale, only, seeds)
    if plan:
        show_plan(Plan.of(wanted, range(seeds)), console)
        return
    engine = engine_settings(changes or [])
    where = out / scale
    again = " ".join(
        ["superfed reproduce", target, *(changes or []), f"--scale {scale} --seeds {seeds} --out {out}"]
        + ([] if only is None else [f"--only {only}"])
        + ([] if data_root is None else [f"--data-root {data_root}"])
    )
    here, missing = split_by_data(runs(wanted, range(seeds)), data_root)
    for dataset, why in missing.items():
        typer.echo(f"superfed: {dataset} is left out: {why}", err=True)
    all_failures = []
    for job in in_jobs(here):
        with stoppable(where, again) as stop, failures_kept() as failures, watching(console) as observer:
            run_all(job, where, again, engine, data_root, Heeding(observer, stop))
        all_failures += failures
    show_tables(target, scale, runs(wanted, range(seeds)), where, console)
    for failed in all_failures:
        typer.echo(f"superfed: {failed}", err=True)
    if missing or all_failures:
        raise typer.Exit(1)
