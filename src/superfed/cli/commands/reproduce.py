"""superfed reproduce"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.elsewhere import GpusPerTask, RayAddress, StoreUrl
from superfed.cli.options import DataRoot


def command(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="table1 to table5, figure3, figureA, figureB, questions, parts, or all of them: all."
        ),
    ],
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
        typer.Option(
            metavar="A,B",
            help="Cells with one of these in their names, such as mnist/k50 or superfed.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="So many runs of each cell; as A-B, those with the seeds from A to B. Without it one is run, and all that "
            "are there are shown.",
            show_default=False,
        ),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what would be run and how long it takes; run nothing.")
    ] = False,
    gpus: Annotated[
        str | None,
        typer.Option(metavar="1,8,64", help="With --plan: the same on so many H200s, on paper.", show_default=False),
    ] = None,
    price: Annotated[
        float | None,
        typer.Option(metavar="PRICE", help="With --gpus: what a GPU costs an hour.", show_default=False),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Show what is finished; run nothing.")] = False,
    of_kept: Annotated[
        bool,
        typer.Option("--show-kept", help="Show what is in --kept, wherever it was run; run nothing."),
    ] = False,
    cell: Annotated[
        str | None,
        typer.Option(
            metavar="CELL", help="Say where the numbers of this cell come from; run nothing.", show_default=False
        ),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Add what is finished to the small files in --kept.")] = False,
    kept: Annotated[Path, typer.Option(metavar="DIR", help="Where results are kept as small files.")] = Path(
        "results/reproduce"
    ),
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.md",
            help="Write a page of all that is kept, or with --gpus of schedules; run nothing.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where runs and pages go, and are found again.")
    ] = Path("runs/reproduce"),
    ray: RayAddress = None,
    gpus_per_task: GpusPerTask = None,
    store: StoreUrl = None,
    data_root: DataRoot = None,
) -> None:
    """Run a table or a figure of the paper again, and lay our numbers beside the published ones; or put the questions to it
    that it leaves open.

    What is finished is not run again, and what was interrupted goes on, if the command is given again.

    [bold]superfed reproduce all --plan[/bold]

    [bold]superfed reproduce all --plan --gpus 1,8,64[/bold]

    [bold]superfed reproduce all --scale smoke[/bold]

    [bold]superfed reproduce table1 --only mnist/k50 --seeds 3 --data-root DIR[/bold]

    [bold]superfed reproduce table1 --show-kept[/bold]

    [bold]superfed reproduce table1 --cell mnist/k50/superfed_mm[/bold]

    [bold]superfed reproduce all --ray 10.0.0.1:6379 --data-root DIR[/bold]
    """
    from rich.console import Console

    from superfed.cli.elsewhere import place_for
    from superfed.cli.logs import complain
    from superfed.cli.reproduce_again import command_again
    from superfed.cli.reproduce_asked import ALL, chosen, one_thing, seeds_of, seeds_there
    from superfed.cli.reproduce_cell import show_cells
    from superfed.cli.reproduce_plan import show_plan
    from superfed.cli.reproduce_runs import Job, make
    from superfed.cli.reproduced import beside, keep_all, show_all, show_kept, tell_kept, write_results
    from superfed.cli.schedule.show import show_on_gpus
    from superfed.core.errors import require
    from superfed.experiments.schema import EngineConfig
    from superfed.reproduce.cells import runs
    from superfed.reproduce.links import Runs
    from superfed.reproduce.plan import Plan
    from superfed.reproduce.record import of_seeds, records
    from superfed.reproduce.running import engine_settings, states

    console = Console()
    engine = engine_settings(changes or [])
    wanted, numbers, where = chosen(target, scale, only), seeds_of(seeds or "1"), out / scale
    of_results = page if gpus is None else None
    instead = {"plan": plan, "page": of_results, "show-kept": of_kept, "cell": cell}
    one_thing(**instead, show=show)
    one_thing(keep=keep, **instead)
    idle = show or any(value not in (None, False) for value in instead.values())
    for name, value in (("--ray", ray), ("--gpus-per-task", gpus_per_task), ("--store", store)):
        require(not idle or value is None, name, "is for computing, and nothing is run here")
    require(cell is None or seeds is None, "--seeds", "is not for --cell, which shows every seed that is there")
    require(plan or gpus is None, "--gpus", "schedules a plan; give --plan too")
    require(gpus is not None or price is None, "--price", "is for a schedule's hours; give --plan --gpus too")
    if of_results is not None:
        whole = target == ALL and only is None
        require(whole, "--page", f"is of all that is kept: superfed reproduce {ALL} --page {page}")
        write_results(kept, of_results, console)
        return
    if plan:
        precision = engine.get("precision", EngineConfig.precision)
        if gpus is None:
            done = [run for run, folder in states(runs(wanted, numbers), where, complain) if folder is not None]
            show_plan(Plan.of(wanted, numbers, precision), done, console)
        else:
            show_on_gpus(wanted, numbers, precision, gpus, price, page, console)
        return
    if cell is not None:
        if not show_cells(cell, wanted, scale, out, kept, console):
            raise typer.Exit(1)
        return
    asked = None if seeds is None else numbers
    if of_kept:
        _end_with(show_kept(wanted, scale, asked, kept, out / "kept" / scale, console))
        return
    complaints = list[str]()
    if not show:
        again = command_again(target, changes or [], scale, seeds, out, only, kept if keep else None, data_root)
        with place_for(ray, gpus_per_task, store) as place:
            job = Job(scale, where, again + place.options, engine, data_root, place)
            complaints += make(runs(wanted, numbers), job, console)
    found = records(runs(beside(wanted, scale), sorted({*numbers, *seeds_there(where)})), where, complaints.append)
    complaints += show_all(wanted, scale, Runs(found), of_seeds(found, asked), where, console)
    if keep:
        complaints += keep_all(wanted, scale, of_seeds(found, asked), kept, console)
    elif show:
        complaints += tell_kept(wanted, found, scale, kept, console)
    _end_with(complaints)


def _end_with(complaints: Sequence[str]) -> None:
    for sentence in complaints:
        typer.echo(f"superfed: {sentence}", err=True)
    if complaints:
        raise typer.Exit(1)
