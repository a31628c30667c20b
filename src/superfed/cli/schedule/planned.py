"""All runs of a reproduction at full scale, and parts of them."""

from dataclasses import dataclass
from functools import cached_property

from superfed.cli.schedule.tasks import part_of
from superfed.reproduce.cells import TARGETS, PlannedRun, cells
from superfed.reproduce.gpu_time import run_seconds
from superfed.reproduce.plan import Group, Plan

SEEDS = 3
SLOWEST = "shakespeare"
"""The dataset whose network is the slowest."""


@dataclass(frozen=True)
class Planned:
    several: Plan
    """With all seeds."""

    @classmethod
    def of_all(cls) -> "Planned":
        return cls(Plan.of(cells("all", "full"), range(SEEDS)))

    @cached_property
    def one(self) -> Plan:
        """With the first seed alone."""
        return part_of(self.several, lambda run: run.config.seed == 0)

    @cached_property
    def targets(self) -> list[str]:
        """The tables and figures, by name."""
        there = {cell.table for group in self.one.groups for run in group.runs for cell in run.cells}
        return [target for target in TARGETS if target in there]


def of_target(plan: Plan, target: str) -> Plan:
    return part_of(plan, lambda run: any(cell.table == target for cell in run.cells))


def without_slowest(plan: Plan) -> Plan:
    def wanted(run: PlannedRun) -> bool:
        return run.cells[0].dataset != SLOWEST

    return part_of(plan, wanted)


def longest_run(plan: Plan) -> tuple[Group, int]:
    """Its group, and its place there."""
    every = [(group, place) for group in plan.groups for place in range(len(group.runs))]
    return max(every, key=lambda one: run_seconds(one[0], [one[1]]))
