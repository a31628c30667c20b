"""What is shown when runs are done."""

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from superfed.report.comparison import compare
from superfed.report.page import write_page
from superfed.report.terminal import comparison_table
from superfed.store.layout import RunFolder, find_runs

PAGE = "report.html"


def show_results(out: Path, console: Console) -> None:
    """The table, where the files are, and a true exit code."""
    runs = find_runs(out)
    console.print(comparison_table(compare(runs)))
    page = out / PAGE
    write_page(runs, page)
    console.print(f"runs: {out}", highlight=False, soft_wrap=True)
    console.print(f"page: {page}", highlight=False, soft_wrap=True)
    if complain_of_stopped(runs):
        raise typer.Exit(1)


def complain_of_stopped(runs: Sequence[RunFolder]) -> bool:
    """Say which runs ended early and why; whether any did."""
    stopped = [(run, info) for run in runs if (info := run.info())["status"] == "stopped"]
    for run, info in stopped:
        typer.echo(f"superfed: {run.path}: stopped: {info['reason']}", err=True)
    return bool(stopped)
