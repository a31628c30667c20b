"""A benchmark's report on the terminal, and how far it has come."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from superfed.bench.report import Report, Row
from superfed.bench.suite import Tell
from superfed.bench.words import EXPLANATION, HEADINGS, by_network, cells, circumstances, machine, remarks


def show_report(report: Report, console: Console) -> None:
    console.print(Text(machine(report), style="bold"))
    for name, rows in by_network(report).items():
        table = Table(title=name, title_justify="left", title_style="cyan", box=None, padding=(0, 1, 0, 0))
        for place, heading in enumerate(HEADINGS):
            table.add_column(heading, justify="right" if place else "left", no_wrap=True)
        for row in rows:
            table.add_row(*cells(row))
        console.print(table)
    for sentence in remarks(report):
        console.print(Text(sentence))
    for sentence in (circumstances(report), EXPLANATION):
        console.print(Text(sentence, style="dim"))


@contextmanager
def watching(console: Console, steps: int) -> Iterator[Tell]:
    """Says what is measured now: a bar on a terminal, a line per result elsewhere."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("", total=steps)
        begun = False

        def tell(what: str, found: Row | None) -> None:
            nonlocal begun
            if found is not None:
                shown = dict(zip(HEADINGS, cells(found), strict=True))
                rate = f"{shown['engine']} client-steps a second, {shown['ratio']} the plain loop"
                line = f"{found.of.title}, {found.of.network}, {shown['lanes']} lanes: {rate}"
                progress.console.print(line, highlight=False, soft_wrap=True)
                return
            progress.update(bar, description=what, advance=1 if begun else 0)
            begun = True

        yield tell
