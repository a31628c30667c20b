"""superfed bench"""

from pathlib import Path
from typing import Annotated

import typer


def command(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RESULT]…", help="Files that --json wrote: show these and measure nothing.", show_default=False
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    quick: Annotated[bool, typer.Option("--quick", help="Four methods, two networks, less than two minutes.")] = False,
    methods: Annotated[
        str | None, typer.Option(metavar="A,B", help="Which methods; all without it.", show_default=False)
    ] = None,
    networks: Annotated[
        str | None, typer.Option(metavar="A,B", help="Which networks; all without it.", show_default=False)
    ] = None,
    lanes: Annotated[
        str | None,
        typer.Option(
            metavar="N,M", help="How many clients; 5 on a CPU and 5,50,200 on a GPU without it.", show_default=False
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="About how long to take for each case.", show_default=False)
    ] = None,
    precision: Annotated[
        str, typer.Option(help="Of products on a GPU, of both sides: float32, tf32 or bf16.")
    ] = "float32",
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all numbers there.", show_default=False)
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Put the RESULT files' tables and charts into this Markdown page.", show_default=False
        ),
    ] = None,
) -> None:
    """Measure the engine against plain PyTorch loops in the same process, and against what the machine allows.

    [bold]superfed bench --quick[/bold]

    [bold]superfed bench --methods fedavg,superfed --networks two_nn --json result.json[/bold]

    [bold]superfed bench result.json --page docs/benchmark.md[/bold]
    """
    from rich.console import Console

    from superfed.bench.choose import plan_for
    from superfed.bench.page import write_page
    from superfed.bench.report import Report
    from superfed.bench.suite import run_suite
    from superfed.cli.bench_table import show_report, watching
    from superfed.core.errors import UserError

    console = Console()
    if results:
        reports = {path.stem: Report.read(path) for path in results}
        if page is not None:
            write_page(page, reports)
            typer.echo(f"page: {page}")
            return
        for report in reports.values():
            show_report(report, console)
        return
    if page is not None:
        raise UserError("--page: name the files that --json wrote, whose results it is to show")
    if json_file is not None and json_file.is_dir():
        raise UserError(f"{json_file}: is a folder; name a file")
    plan = plan_for(device, quick, methods, networks, lanes, seconds, precision)
    with watching(console, len(plan.cases) + 2) as tell:
        report = run_suite(plan, tell)
    show_report(report, console)
    if json_file is not None:
        report.write(json_file)
        typer.echo(f"numbers: {json_file}")
