"""Many lanes at once: lanes of one shape share a stack, and a stack a program that is kept across rounds and runs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Literal

import torch

from superfed.core.state import num_bytes
from superfed.engine.device_samples import DeviceSamples
from superfed.engine.lanes import Lane
from superfed.engine.local import Update
from superfed.engine.plan import num_steps
from superfed.engine.plans_ahead import PlansAhead
from superfed.engine.precision import products_in
from superfed.engine.program import Programs, Tell
from superfed.engine.segments import Shrinking
from superfed.engine.stack import Planned, Stack
from superfed.engine.task import Task
from superfed.engine.utilisation import Utilisation

GroupKey = tuple[object, ...]
Compile = Literal["auto", "on", "off"]
WORTH_COMPILING = 200_000
"""Gradients of all clients of all runs that share a program. Fewer take less time than the compiler does."""
SOME_CLIENTS = 1000
"""By which it is seen how different a run's clients are."""
MOST_LANES = 512
"""More lanes than this do not make a GPU any faster."""


def group_key(task: Task) -> GroupKey:
    """Lanes of runs with equal keys can share one program."""
    shape = (tuple(task.data.input_shape), task.schedule.batch_size)
    return (task.algorithm.shape_key(), id(task.model), shape, task.precision)


class Stacks:
    """The stacks of one device, by the shape of their lanes, in a budget of so many bytes.

    Of the budget, a fifth is for samples that are kept on the device. ``tasks`` are the runs that will be computed, by
    which it is decided what is worth compiling; without them each decides for itself.
    """

    def __init__(
        self,
        device: torch.device,
        budget: int,
        compile: Compile = "auto",
        max_lanes: int = MOST_LANES,
        tell: Tell | None = None,
        tasks: Sequence[Task] = (),
    ) -> None:
        self.device, self.use = device, Utilisation()
        self._planned = defaultdict[GroupKey, list[Task]](list)
        self._planned_gradients = Counter[GroupKey]()
        for task in tasks:
            self._planned[group_key(task)].append(task)
            self._planned_gradients[group_key(task)] += _gradients(task)
        self.programs = Programs(device, tell)
        self._compile, self._max_lanes = compile, max_lanes
        self._samples = DeviceSamples(device, budget // 5)
        self._for_lanes = budget - budget // 5
        self._stacks: dict[GroupKey, Stack] = {}
        self._limits: dict[GroupKey, int] = {}
        self._ahead = PlansAhead()

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]:
        """The local updates of any batchable lanes, each with its place. Those of one shape are computed together.

        The device is given the next stack's work before anyone waits for this one's, and what the next round needs is
        drawn while it computes.
        """
        groups: dict[GroupKey, list[int]] = {}
        for place, lane in enumerate(lanes):
            groups.setdefault(self._key(lane.task), []).append(place)
        ready: list[tuple[int, Update]] = []
        for key, places in groups.items():
            places.sort(key=lambda i: -num_steps(lanes[i].task, lanes[i].client))  # lanes of like length share a stack
            for part in self._group(key, lanes, places):
                ready += part
                if _bytes_of(ready) > self._for_lanes // 8:
                    yield from ready
                    ready = []
        self._ahead.draw(lanes)
        yield from ready

    def _group(
        self, key: GroupKey, lanes: Sequence[Lane], places: Sequence[int]
    ) -> Iterator[Iterable[tuple[int, Update]]]:
        for part in even_parts(places, self._limit(key, [lanes[i] for i in places])):
            yield zip(part, self._together(key, self._plan([lanes[i] for i in part])), strict=True)

    def _plan(self, lanes: Sequence[Lane]) -> Planned:
        return Planned.of(lanes, self._ahead.of(lanes))

    def _together(self, key: GroupKey, planned: Planned) -> list[Update]:
        with products_in(planned.lanes[0].task.precision):
            try:
                return self._stack(key, planned.lanes[0].task).update(planned)
            except torch.OutOfMemoryError:
                if len(planned.lanes) == 1:
                    raise
        del self._stacks[key]
        torch.cuda.empty_cache()
        self._limits[key] = len(planned.lanes) // 2
        by_place = dict(chain.from_iterable(self._group(key, planned.lanes, range(len(planned.lanes)))))
        return [by_place[planned.order.index(place)] for place in range(len(planned.lanes))]

    def _key(self, task: Task) -> GroupKey:
        return (*group_key(task), self._compiles(task))

    def _stack(self, key: GroupKey, task: Task) -> Stack:
        if key not in self._stacks:
            how = (True, self._shrinking(task)) if self._compiles(task) else (False, None)
            self._stacks[key] = Stack(task, self._samples, self.programs, self.use, *how)
        return self._stacks[key]

    def _limit(self, key: GroupKey, lanes: Sequence[Lane]) -> int:
        """How many lanes of this shape fit into the budget."""
        if len(lanes) == 1:
            return 1
        if key not in self._limits:
            each = self._stack(key, lanes[0].task).bytes_per_lane(self._plan(lanes[:1]))
            self._limits[key] = min(max(self._for_lanes // each, 1), self._max_lanes)
        return self._limits[key]

    def _compiles(self, task: Task) -> bool:
        """Decided by settings alone, not by how far runs have come, since compiled programs round differently."""
        if self._compile == "auto":
            return self.device.type == "cuda" and self._gradients_with(task) >= WORTH_COMPILING
        return self._compile == "on"

    def _shrinking(self, task: Task) -> Shrinking:
        """For how few lanes programs are worth compiling; decided like that."""
        steps = [few for one in self._planned.get(group_key(task), [task]) for few in _steps(one)]
        return Shrinking(steps, WORTH_COMPILING / max(self._gradients_with(task), 1))

    def _gradients_with(self, task: Task) -> int:
        """Of all runs that share its program, of those that will be computed."""
        return self._planned_gradients.get(group_key(task), 0) or _gradients(task)


def _gradients(task: Task) -> int:
    """Of the whole run, about."""
    steps = _steps(task)
    updates = task.schedule.rounds * task.cohort_size
    return updates * sum(steps) // len(steps) * task.algorithm.gradients


def _steps(task: Task) -> list[int]:
    """Of the local updates of some of its clients."""
    return [num_steps(task, client) for client in task.members[:SOME_CLIENTS]]


def _bytes_of(updates: Sequence[tuple[int, Update]]) -> int:
    """All have one shape, about."""
    return (
        len(updates) * sum(num_bytes(state) for state in (updates[0][1].kept, updates[0][1].upload)) if updates else 0
    )


def even_parts(places: Sequence[int], most: int) -> list[Sequence[int]]:
    """In their order, in as few parts as there must be, of about one size."""
    count = -(-len(places) // most)
    bounds = [round(i * len(places) / count) for i in range(count + 1)]
    return [places[start:stop] for start, stop in pairwise(bounds)]


def batched_update(lanes: Sequence[Lane], device: torch.device) -> list[Update]:
    """The local updates of ``lanes``, once, on ``device``."""
    by_place = dict(Stacks(device, budget=2**40).update(lanes))
    return [by_place[place] for place in range(len(lanes))]
