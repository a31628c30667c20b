"""A schedule's tasks on their GPUs, and how soon all is done by the number of GPUs."""

from collections.abc import Mapping, Sequence

from superfed.cli.schedule.words import lasting
from superfed.deploy.ray.schedule import Schedule
from superfed.report.gantt import Bar, gantt
from superfed.report.log_axis import LogAxis
from superfed.report.markup import Markup
from superfed.report.panels import Panel, panels
from superfed.report.scale import round_axis
from superfed.report.svg import Line, Point
from superfed.reproduce.rates import RATES

GPUS = (1, 2, 4, 8, 16, 32, 64)
HOURS = LogAxis(0.01, 100, (0.01, 0.1, 1, 10, 100))
NETWORKS = tuple(RATES["h200"])
IDEAL = 5
"""The colour of what no schedule reaches."""


def on_gpus(what: str, schedule: Schedule) -> Markup:
    """A row for each GPU, a bar for each task in the colour of its network."""
    bars = [
        Bar(
            row=task.slot,
            begin=task.begin / 3600,
            ready=task.ready / 3600,
            end=task.end / 3600,
            kind=NETWORKS.index(task.job.name.rpartition(", ")[2]),
            note=f"{task.job.name}: {lasting(task.seconds)}, {task.job.runs} {'run' if task.job.runs == 1 else 'runs'}",
        )
        for task in schedule.tasks
    ]
    time = round_axis([0, schedule.makespan / 3600], limits=(0, float("inf")), marks=9)
    height = min(26.0, max(7.0, 260 / schedule.slots))
    title = f"{what}: {len(bars)} tasks on {schedule.slots} GPUs"
    return gantt(title, bars, schedule.slots, NETWORKS, time, ("hours", "GPU"), height)


def by_gpus(found: Mapping[str, Mapping[str, Sequence[Schedule]]]) -> Markup:
    """A panel for each name, a line for each way, and what it would be were all GPUs always as busy as one is."""
    every = [_panel(name, ways) for name, ways in found.items()]
    rows = [every[start : start + 3] for start in range(0, len(every), 3)]
    across = LogAxis(GPUS[0], GPUS[-1], GPUS)
    return panels("How soon all is done", rows, across, HOURS, "GPUs", "hours", (225, 165))


def _panel(name: str, ways: Mapping[str, Sequence[Schedule]]) -> Panel:
    lines = [Line("were no GPU ever idle", _ideal(schedules), IDEAL) for schedules in ways.values()]
    lines += [Line(way, _points(schedules), place) for place, (way, schedules) in enumerate(ways.items())]
    return Panel(name, lines)


def _points(schedules: Sequence[Schedule]) -> list[Point]:
    return [_point(one.slots, one.makespan, f"{one.slots} GPUs: {lasting(one.makespan)}") for one in schedules]


def _ideal(schedules: Sequence[Schedule]) -> list[Point]:
    alone = schedules[0]
    return [_point(gpus, alone.makespan / gpus, lasting(alone.makespan / gpus)) for gpus in (GPUS[0], GPUS[-1])]


def _point(gpus: int, seconds: float, note: str) -> Point:
    hours = seconds / 3600
    return Point(gpus, hours, hours, hours, note)
