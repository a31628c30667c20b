"""superfed reproduce"""

from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.options import DataRoot


def command(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="table1 to table5, figure3, figureA, figureB, or all of them: all.")
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
        typer.Option(metavar="A,B", help="Cells whose names hold one of these, such as mnist/k50.", show_default=False),
    ] = None,
    seeds: Annotated[int, typer.Option(metavar="N", help="So many runs of each cell.")] = 1,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what would be run and how long it takes; run nothing.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Show what is finished; run nothing.")] = False,
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
        typer.Option(metavar="FILE.md", help="Write a page of all that is kept; run nothing.", show_default=False),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where runs and pages go, and are found again.")
    ] = Path("runs/reproduce"),
    data_root: DataRoot = None,
) -> None:
    """Run a table or a figure of the paper again, and lay our numbers beside the published ones.

    What is finished is not run again, and what was interrupted goes on, if the command is given again.

    [bold]superfed reproduce all --plan[/bold]

    [bold]superfed reproduce all --scale smoke[/bold]

    [bold]superfed reproduce table1 --only mnist/k50 --seeds 3 --data-root DIR[/bold]

    [bold]superfed reproduce table1 --cell mnist/k50/superfed_mm[/bold]
    """
    from rich.console import Console

    from superfed.cli.reproduce_cell import show_cells
    from superfed.cli.reproduce_plan import show_plan
    from superfed.cli.reproduce_runs import make
    from superfed.cli.reproduced import ALL, chosen, keep_all, show_all, write_results
    from superfed.core.errors import require
    from superfed.reproduce.cells import runs
    from superfed.reproduce.plan import Plan
    from superfed.reproduce.record import records
    from superfed.reproduce.running import engine_settings

    console = Console()
    wanted = chosen(target, scale, only, seeds)
    if page is not None:
        require(
            target == ALL and only is None, "--page", f"is of all that is kept: superfed reproduce {ALL} --page {page}"
        )
        write_results(kept, page, console)
        return
    if plan:
        show_plan(Plan.of(wanted, range(seeds)), console)
        return
    if cell is not None:
        if not show_cells(cell, wanted, scale, out, console):
            raise typer.Exit(1)
        return
    engine, planned, where = engine_settings(changes or []), runs(wanted, range(seeds)), out / scale
    again = " ".join(
        ["superfed reproduce", target, *(changes or []), f"--scale {scale} --seeds {seeds} --out {out}"]
        + ([] if only is None else [f"--only {only}"])
        + ([f"--keep --kept {kept}"] if keep else [])
        + ([] if data_root is None else [f"--data-root {data_root}"])
    )
    data_is_here, complaints = (True, []) if show else make(planned, scale, where, again, engine, data_root, console)
    found = records(planned, where)
    show_all(wanted, scale, found, where, console)
    if keep:
        keep_all(wanted, scale, found, kept, console)
    for sentence in complaints:
        typer.echo(f"superfed: {sentence}", err=True)
    if complaints or not data_is_here:
        raise typer.Exit(1)
