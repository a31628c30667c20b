"""What ``superfed reproduce --plan --gpus`` shows, or writes as a page."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from superfed.cli.reproduce_plan import show_plan
from superfed.cli.schedule.asked import checked_price, gpu_numbers
from superfed.cli.schedule.page import COMMAND, write_page
from superfed.cli.schedule.page_tables import SHOWN
from superfed.cli.schedule.table import show_schedules
from superfed.core.errors import require
from superfed.engine.precision import Precision
from superfed.reproduce.cells import Cell, cells
from superfed.reproduce.plan import Plan


def show_on_gpus(
    wanted: Sequence[Cell],
    seeds: range,
    precision: Precision,
    gpus: str,
    price: float | None,
    page: Path | None,
    console: Console,
) -> None:
    """The plan and its schedules; or the page, which is always of everything."""
    numbers, paid = gpu_numbers(gpus), checked_price(price)
    if page is None:
        plan = Plan.of(wanted, seeds, precision)
        show_plan(plan, [], console)
        show_schedules(plan, numbers, paid, console)
        return
    everything = list(wanted) == cells("all", "full") and seeds == range(1) and tuple(numbers) == SHOWN
    on = ", ".join(map(str, SHOWN))
    require(everything, "--page", f"of schedules is of everything on {on} GPUs: {COMMAND} --page {page}")
    write_page(page, paid)
    console.print(f"page: {page}", highlight=False, soft_wrap=True)
