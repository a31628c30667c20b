"""A plan's runs as the tasks of a schedule."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from superfed.deploy.ray.packing import Load, pack
from superfed.deploy.ray.schedule import Job, Schedule, simulate
from superfed.reproduce.cells import PlannedRun
from superfed.reproduce.gpu_time import compile_seconds, run_seconds
from superfed.reproduce.plan import Group, Plan


class OnGpus:
    """The plan on H200s, however many."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._places = [(i, place) for i, group in enumerate(plan.groups) for place in range(len(group.runs))]
        self._jobs: dict[tuple[int, tuple[int, ...]], Job] = {}
        self._loads = [self._load(index, place) for index, place in self._places]

    def schedule(self, gpus: int) -> Schedule:
        jobs = []
        for task in pack(self._loads, gpus, batched=True):
            index = self._places[task[0]][0]
            jobs.append(self._job(index, tuple(self._places[one][1] for one in task)))
        return simulate(jobs, gpus)

    def _load(self, index: int, place: int) -> Load:
        """What a gradient costs is what it takes in its run alone."""
        group = self._plan.groups[index]
        gradients = group.gradients * group.costs[place].client_steps
        return Load(index, gradients, group.costs[place].lanes, self._job(index, (place,)).seconds / gradients)

    def _job(self, index: int, places: tuple[int, ...]) -> Job:
        if (index, places) not in self._jobs:
            group = self._plan.groups[index]
            self._jobs[index, places] = Job(
                name=f"{group.title}, {group.network}",
                seconds=run_seconds(group, places),
                program=(index, sum(group.costs[place].lanes for place in places)),
                compiling=compile_seconds(group, places),
                runs=len(places),
            )
        return self._jobs[index, places]


def scheduled(plan: Plan, gpus: Sequence[int]) -> dict[int, Schedule]:
    """By the number of GPUs."""
    on_gpus = OnGpus(plan)
    return {number: on_gpus.schedule(number) for number in gpus}


def part_of(plan: Plan, wanted: Callable[[PlannedRun], bool]) -> Plan:
    """Of the plan's runs those that are wanted."""
    groups = [part for group in plan.groups if (part := _part_of(group, wanted)).runs]
    runs = [run for group in groups for run in group.runs]
    cells = {cell.id for run in runs for cell in run.cells}
    return Plan(len(cells), tuple(sorted({run.config.seed for run in runs})), tuple(groups))


def _part_of(group: Group, wanted: Callable[[PlannedRun], bool]) -> Group:
    both = [(run, cost) for run, cost in zip(group.runs, group.costs, strict=True) if wanted(run)]
    return replace(group, runs=tuple(run for run, _ in both), costs=tuple(cost for _, cost in both))
