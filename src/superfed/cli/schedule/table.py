"""A plan's schedules on the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from superfed.cli.schedule.tasks import scheduled
from superfed.cli.schedule.words import EXPLANATION, HEADINGS, cells, limits, money, sources
from superfed.reproduce.plan import Plan


def show_schedules(plan: Plan, gpus: Sequence[int], price: float | None, console: Console) -> None:
    """A row for each number of GPUs; below, what limits it, and where the figures come from."""
    schedules = scheduled(plan, [1, *gpus])
    alone, shown = schedules[1], [schedules[number] for number in gpus]
    table = Table(box=None, padding=(0, 1, 0, 0))
    for heading in (*HEADINGS, *([] if price is None else [f"at {price:g} an hour"])):
        table.add_column(heading, justify="right", no_wrap=True)
    for schedule in shown:
        table.add_row(*cells(schedule, alone), *([] if price is None else [money(schedule, price)]))
    console.print()
    console.print(Text("On several H200s", style="bold"))
    console.print(table)
    for schedule in shown:
        console.print(Text(limits(schedule)))
    for sentence in (EXPLANATION, *sources()):
        console.print(Text(sentence, style="dim"))
