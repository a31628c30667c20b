"""How tasks would follow one another on several devices, found without starting anything.

A task goes to the device that is free first, the longest task first, as Ray takes what was submitted in that order. Before it
computes, it waits for what is not there yet: its process, on a node's first task its data, and its compiled program, which a
node keeps on its disk for the next one.
"""

import heapq
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

TASK_START = 0.15
"""Seconds that a task with next to nothing to compute takes: benchmarks/on_ray.py, on two cores."""
FIRST_ON_NODE = 9.0
"""Seconds until a node has its data and its first process has imported everything; from the same."""
SLOTS_PER_NODE = 8

Cause = Literal["work", "longest", "few", "preparing"]
BUSY = 0.9
"""Devices that compute for so much of the time leave little to gain."""
MUCH = 0.2
"""A share of the devices' time that is worth saving."""


@dataclass(frozen=True)
class Overheads:
    """In seconds."""

    start: float = TASK_START
    first_on_node: float = FIRST_ON_NODE


@dataclass(frozen=True)
class Job:
    """A task before it is placed."""

    name: str
    seconds: float
    """Of computing."""
    program: Hashable = None
    """Equal for tasks that need the same compiled program."""
    compiling: float = 0.0
    """Seconds, where the program is not on the node yet."""
    runs: int = 1


@dataclass(frozen=True)
class Placed:
    """A task, and when it is where: from ``begin`` on it prepares, from ``ready`` on it computes."""

    job: Job
    slot: int
    begin: float
    ready: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.begin


@dataclass(frozen=True)
class Limit:
    """What keeps it from being sooner."""

    cause: Cause
    sentence: str


@dataclass(frozen=True)
class Schedule:
    """All tasks, in the order in which they begin."""

    tasks: tuple[Placed, ...]
    slots: int

    @cached_property
    def makespan(self) -> float:
        """Seconds until the last task ends."""
        return max((task.end for task in self.tasks), default=0.0)

    @cached_property
    def used(self) -> float:
        """Device-seconds in which a task is there, computing or preparing."""
        return sum(task.seconds for task in self.tasks)

    @property
    def held(self) -> float:
        """Device-seconds, if every device is held until the last task ends."""
        return self.slots * self.makespan

    @property
    def busy(self) -> float:
        """The share of what is held that is used."""
        return self.used / self.held if self.held else 1.0

    @property
    def preparing(self) -> float:
        """The share of what is used that goes into starting, fetching and compiling."""
        return sum(task.ready - task.begin for task in self.tasks) / self.used if self.used else 0.0

    @property
    def longest(self) -> Placed:
        return max(self.tasks, key=lambda task: task.seconds)

    def limit(self) -> Limit:
        if not self.tasks:
            return Limit("work", "there is nothing to do")
        longest, count = self.longest, len(self.tasks)
        if self.busy < BUSY and longest.seconds >= BUSY * self.makespan:
            if count < self.slots and 2 * self.used >= count * longest.seconds:  # tasks are of about one length
                return Limit("few", f"there are only {count} tasks for {self.slots} devices")
            what = "a single run" if longest.job.runs == 1 else f"{longest.job.runs} runs"
            share = f"{longest.seconds / self.makespan:.0%} of the whole time"
            return Limit("longest", f"one task takes {share}: {longest.job.name}, {what}")
        if self.preparing > MUCH:
            return Limit("preparing", f"{self.preparing:.0%} of the time in use goes into starting and compiling")
        if self.busy < BUSY:
            return Limit("few", f"{count} tasks do not divide evenly among {self.slots} devices")
        return Limit(
            "work", "the work itself" + ("" if self.slots == 1 else ": all devices are busy nearly to the end")
        )


def simulate(
    jobs: Sequence[Job], slots: int, *, slots_per_node: int = SLOTS_PER_NODE, overheads: Overheads | None = None
) -> Schedule:
    """Slots are numbered through the nodes, ``slots_per_node`` on each."""
    if slots < 1 or slots_per_node < 1:
        raise ValueError(f"slots: must be 1 or more, not {min(slots, slots_per_node)}")
    costs = overheads or Overheads()
    free = [(0.0, slot) for slot in range(slots)]  # ascending, and so a heap
    opened: dict[int, float] = {}
    compiled: dict[tuple[int, Hashable], float] = {}
    tasks = []
    for job in sorted(jobs, key=lambda job: -(job.seconds + job.compiling)):
        begin, slot = heapq.heappop(free)
        node = slot // slots_per_node
        ready = max(begin + costs.start, opened.setdefault(node, begin + costs.start + costs.first_on_node))
        if job.compiling and compiled.get((node, job.program), float("inf")) > ready:
            ready += job.compiling
            compiled.setdefault((node, job.program), ready)
        tasks.append(Placed(job, slot, begin, ready, ready + job.seconds))
        heapq.heappush(free, (tasks[-1].end, slot))
    return Schedule(tuple(tasks), slots)
