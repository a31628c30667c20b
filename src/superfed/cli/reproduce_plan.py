"""What a reproduction will take, on the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from superfed.reproduce.cells import PlannedRun
from superfed.reproduce.plan import Group, Plan
from superfed.reproduce.rates import MACHINES, Machine
from superfed.reproduce.ruled import print_whole

HEADINGS = ("", "batch", "runs", "lanes", "client-steps", "states", *MACHINES.values())

TOGETHER = "The runs of a row are computed together. States are what clients keep, were all runs under way at once."
RATES = "Times are of training alone, from rates seen on such machines"
GUESSED = "; ~ where the rate is a guess"


def show_plan(plan: Plan, done: Sequence[PlannedRun], console: Console) -> None:
    """A row for each group of runs that are computed together, by their network; ``done`` are those that are finished."""
    console.print(Text(_summary(plan), style="bold"))
    table = Table(box=None, padding=(0, 1, 0, 0))
    for place, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    for network in dict.fromkeys(group.network for group in plan.groups):
        table.add_row(Text(network, style="cyan"))
        for group in plan.groups:
            if group.network == network:
                table.add_row(*_row(group))
    if len(plan.groups) > 1:
        total = (_count(plan.client_steps), in_bytes(plan.state_bytes), *(_time(plan.seconds(m)) for m in MACHINES))
        table.add_row("in all", "", f"{plan.num_runs}", "", *total, style="bold")
    print_whole(table, console)
    guessed = any(group.rate(machine).guess for group in plan.groups for machine in MACHINES)
    precise = {group.precision for group in plan.groups} - {"float32"}
    seen = [f", of the H200 in {precision} where that was seen" for precision in precise]
    already = [f"Finished already, and not to be made again: {_number(len(done), 'run')}."] if done else []
    for sentence in (*already, TOGETHER, "".join([RATES, *seen, GUESSED if guessed else "", "."])):
        console.print(Text(sentence, style="dim"))


def _summary(plan: Plan) -> str:
    cells, seeds = _number(plan.num_cells, "cell"), _number(len(plan.seeds), "seed")
    return f"{cells}, {seeds}: {_number(plan.num_runs, 'run')} in {_number(len(plan.groups), 'group')}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _row(group: Group) -> tuple[str, ...]:
    counts = (f"{group.batch_size}", f"{len(group.runs)}", f"{group.lanes}", _count(group.client_steps))
    return (f"  {group.title}", *counts, in_bytes(group.state_bytes), *(_shown(group, machine) for machine in MACHINES))


def _shown(group: Group, machine: Machine) -> str:
    return f"{'~' if group.rate(machine).guess else ''}{_time(group.seconds(machine))}".replace("~<", "<")


def _count(number: int) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= 0.9995 * size:
            return f"{number / size:.3g} {letter}"
    return f"{number}"


def in_bytes(number: int) -> str:
    for size, unit in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if number >= size:
            return f"{number / size:.3g} {unit}" if number < 999.5 * size else f"{number / size:.0f} {unit}"
    return f"{number} B"


def _time(seconds: float) -> str:
    if seconds < 1:
        return "<1 s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 100 * 3600 else f"{seconds / 86400:.0f} days"
