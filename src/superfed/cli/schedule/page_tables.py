"""The tables of the page, and what its picture of many schedules shows."""

from collections.abc import Mapping, Sequence

from superfed.cli.schedule.pictures import GPUS
from superfed.cli.schedule.planned import SEEDS, Planned, of_target, without_slowest
from superfed.cli.schedule.tasks import scheduled
from superfed.cli.schedule.words import CAUSES, HEADINGS, cells, lasting, money
from superfed.deploy.ray.schedule import Schedule
from superfed.reproduce.plan import Plan
from superfed.reproduce.targets import name_of

SHOWN = (1, 8, 64)
TABLES = ("table1", "table2", "table3", "table4")


def main_table(schedules: Mapping[int, Schedule], price: float) -> str:
    rows = [(*cells(one, schedules[1]), f"${money(one, price)}") for one in schedules.values()]
    return _table((*HEADINGS, f"at ${price:g} an hour"), rows)


def target_table(planned: Planned) -> str:
    rows = []
    for target in planned.targets:
        plan = of_target(planned.one, target)
        rows.append((name_of(target), f"{plan.num_runs}", *_figures(plan)))
    return _table(("", "runs", *_headings()), rows)


def what_if_table(planned: Planned) -> str:
    one = planned.one
    rows = [
        ("as it is", *_figures(one)),
        (f"with {SEEDS} seeds", *_figures(planned.several)),
        ("without Shakespeare", *_figures(without_slowest(one))),
    ]
    return _table(("", *_headings()), rows)


def along_gpus(planned: Planned) -> dict[str, dict[str, list[Schedule]]]:
    """For each table and for everything, by the number of seeds, on 1, 2, 4, … GPUs."""
    both = (planned.one, planned.several)
    found = {name_of(table): [of_target(plan, table) for plan in both] for table in TABLES}
    found["All but Shakespeare"] = [without_slowest(plan) for plan in both]
    found["Everything"] = list(both)
    ways = ("1 seed", f"{SEEDS} seeds")
    return {
        name: {way: list(scheduled(plan, GPUS).values()) for way, plan in zip(ways, plans, strict=True)}
        for name, plans in found.items()
    }


def _headings() -> tuple[str, ...]:
    several = SHOWN[1:]
    return (
        "1 GPU",
        *(f"{gpus} GPUs" for gpus in several),
        *(f"busy of {gpus}" for gpus in several),
        *(f"limit of {gpus}" for gpus in several),
    )


def _figures(plan: Plan) -> tuple[str, ...]:
    schedules = list(scheduled(plan, SHOWN).values())
    return (
        *(lasting(one.makespan) for one in schedules),
        *(f"{one.busy:.0%}" for one in schedules[1:]),
        *(CAUSES[one.limit().cause] for one in schedules[1:]),
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
