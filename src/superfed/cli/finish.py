"""What is shown when runs are done."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console

from superfed.cli.logs import complain
from superfed.experiments.failures import RunsFailed
from superfed.report.comparison import compare
from superfed.report.page.build import write_page
from superfed.report.terminal import comparison_table
from superfed.store.layout import RunFolder, find_runs

PAGE = "report.html"

Failures = list[RunsFailed]


@contextmanager
def failures_kept() -> Iterator[Failures]:
    """Runs that fail inside do not keep the others' results from being shown; for ``show_results`` to complain of."""
    failures: Failures = []
    try:
        yield failures
    except RunsFailed as failed:
        failures.append(failed)


def show_results(out: Path, console: Console, failures: Failures) -> None:
    """The table, where the files are, and a true exit code."""
    runs = find_runs(out)
    some = any(run.summary_file.exists() for run in runs)
    if some or not failures:
        console.print(comparison_table(compare(runs)))
        for sentence in dict.fromkeys(map(privacy_sentence, runs)):
            console.print(sentence, highlight=False, end="\n" if sentence else "")
        write_page(runs, out / PAGE)
    console.print(f"runs: {out}", highlight=False, soft_wrap=True)
    if some:
        console.print(f"page: {out / PAGE}", highlight=False, soft_wrap=True)
    for failed in failures:
        complain(str(failed))
    if complain_of_stopped(runs) or failures:
        raise typer.Exit(1)


def privacy_sentence(run: RunFolder) -> str:
    """What a run with noise on its uploads has spent; nothing, of any other."""
    spent = (run.summary() or {}).get("privacy")
    if spent is None:
        return ""
    epsilon = "no ε, since there was no noise" if spent["epsilon"] is None else f"ε = {spent['epsilon']:.2f}"
    often = f"for the client that took part most, {spent['times']} times"
    return f"privacy: {epsilon} at δ = {spent['delta']:g}, {often}; a simulation's noise protects nobody."


def complain_of_stopped(runs: Sequence[RunFolder]) -> bool:
    """Say which runs ended early and why; whether any did."""
    stopped = [(run, info) for run in runs if (info := run.info())["status"] == "stopped"]
    for run, info in stopped:
        complain(f"{run.path}: stopped: {info['reason']}")
    return bool(stopped)
