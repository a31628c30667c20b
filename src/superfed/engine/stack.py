"""A stack of lanes that share one program: their memory on a device, and their local updates.

Lanes may belong to different runs and clients. Short batches are padded with samples of weight 0, and a lane that has no
steps left stays as it is while others go on; a method sees neither. Lanes with more steps lie further up, so that the
stack can shrink from below as lanes finish.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import torch
from torch import Tensor
from torch.func import vmap

from superfed.core.state import State, moved, row, stacked
from superfed.engine.aligned_rows import new_rows
from superfed.engine.device_samples import DeviceSamples
from superfed.engine.footprint import lane_bytes
from superfed.engine.lane_step import LaneStep, Scalars, lane_scalars
from superfed.engine.lanes import Lane
from superfed.engine.local import Update
from superfed.engine.plan import PhasePlan
from superfed.engine.program import Program, Programs, StackMemory
from superfed.engine.schedule import put_schedule
from superfed.engine.segments import Shrinking, fewest_lanes, segments, sizes_of
from superfed.engine.task import Task
from superfed.engine.utilisation import Utilisation


@dataclass(frozen=True)
class Planned:
    """Lanes with what they will draw, those with most steps first. ``order`` says where each came from."""

    lanes: Sequence[Lane]
    plans: Sequence[Sequence[PhasePlan]]
    order: Sequence[int]

    @classmethod
    def of(cls, lanes: Sequence[Lane], plans: Sequence[Sequence[PhasePlan]]) -> "Planned":
        order = sorted(range(len(lanes)), key=lambda i: -sum(plan.steps for plan in plans[i]))
        return cls([lanes[i] for i in order], [plans[i] for i in order], order)

    @property
    def phases(self) -> list[tuple[PhasePlan, ...]]:
        return list(zip(*self.plans, strict=True))

    @property
    def most_steps(self) -> int:
        """Of any phase."""
        return max(plan.steps for plans in self.plans for plan in plans)


@dataclass(frozen=True)
class _Load:
    """What a stack is given for an update."""

    work: State
    sent: State
    scalars: Scalars
    xs: Sequence[Tensor]
    ys: Sequence[Tensor]

    @cached_property
    def samples(self) -> int:
        return sum(len(y) for y in self.ys)


class Stack:
    """``task`` is any of the runs whose lanes it takes: what differs between them are numbers of each lane.

    It has programs for fewer lanes too, by which others go on when some have finished: for all sizes, or for those that
    ``shrinking`` finds worth it.
    """

    def __init__(
        self,
        task: Task,
        samples: DeviceSamples,
        programs: Programs,
        use: Utilisation,
        compiled: bool = False,
        shrinking: Shrinking | None = None,
    ) -> None:
        self.device = samples.device
        self._task, self._samples, self._programs, self._use = task, samples, programs, use
        self._lane = LaneStep(task.algorithm, task.model.for_lanes().to(self.device), task.precision)
        self._compiled, self._shrinking = compiled, shrinking
        self._memory: StackMemory | None = None
        self._functions: dict[tuple[str, int], Program] = {}
        self._runners: dict[tuple[str, int], Callable[[int], None]] = {}

    def update(self, planned: Planned) -> list[Update]:
        """The local updates of the lanes, in the order they were given in."""
        lanes = planned.lanes
        kept = stacked([moved(lane.kept(), self.device) for lane in lanes])
        sent = stacked([moved(lane.sent, self.device) for lane in lanes])
        scalars = lane_scalars(lanes, self.device)
        with torch.no_grad():
            work = vmap(self._lane.begin)(kept, sent, scalars)
            done = self._trained(planned, work, sent, scalars)
            new_kept, upload = vmap(self._lane.finish)(done, kept, sent, scalars)
        rows = [Update(row(new_kept, i), row(upload, i)) for i in range(len(lanes))]
        return [rows[place] for place in _inverse(planned.order)]

    def bytes_per_lane(self, planned: Planned) -> int:
        """While it trains, about."""
        kept, sent = (stacked([moved(s, self.device)]) for s in (planned.lanes[0].kept(), planned.lanes[0].sent))
        scalars = lane_scalars(planned.lanes[:1], self.device)
        xs, ys, _ = self._samples.pool(planned.lanes[:1])
        with torch.no_grad():
            work = vmap(self._lane.begin)(kept, sent, scalars)
        memory = self._new_memory(planned, _Load(work, sent, scalars, xs, ys), (1, 1, len(ys[0])))
        return max(
            lane_bytes(partial(self._lane.step, plans[0].phase.name), memory)
            for plans in planned.phases
            if plans[0].steps > 0
        )

    def _trained(self, planned: Planned, work: State, sent: State, scalars: Scalars) -> State:
        """The working states after all steps."""
        xs, ys, starts = self._samples.pool(planned.lanes)
        load = _Load(work, sent, scalars, xs, ys)
        memory = self._room_for(planned, load)
        fewest = fewest_lanes(self._lane.model.size, self._lane.model.recurrent)
        sizes = sizes_of(memory.capacity[0], fewest)
        if self._shrinking is not None:
            going = next(size for size in sizes if size >= len(planned.lanes))  # without runs that have ended
            sizes = self._shrinking.sizes(going, fewest)
        todo = [(plans, segments([plan.steps for plan in plans], sizes)) for plans in planned.phases]
        for plans, parts in todo:  # before anything is put in place, since it spoils what lies there
            for part in parts:
                self._runner(plans[0].phase.name, part.lanes)
        _put(memory, load)
        for plans, parts in todo:
            put_schedule(memory, plans, starts)
            for part in parts:
                self._runner(plans[0].phase.name, part.lanes)(part.steps)
                self._use.computed += part.lanes * part.steps
            self._use.needed += sum(plan.steps for plan in plans)
        return {name: t[: len(planned.lanes)] for name, t in memory.work.items()}

    def _runner(self, phase: str, lanes: int) -> Callable[[int], None]:
        """Made once for each phase and number of lanes, for memory that stays where it is."""
        assert self._memory is not None
        if (phase, lanes) not in self._runners:
            memory = self._memory.first(lanes)
            if (phase, lanes) not in self._functions:
                method, parameters = self._task.algorithm.title, self._task.model.size
                what = f"{method}, {parameters:,} parameters, {lanes} lanes, phase {phase}"
                step = partial(self._lane.step, phase)
                self._functions[phase, lanes] = self._programs.function(step, memory, self._compiled, what)
            self._runners[phase, lanes] = self._programs.repeated(self._functions[phase, lanes], memory)
        return self._runners[phase, lanes]

    def _room_for(self, planned: Planned, load: _Load) -> StackMemory:
        """The memory there is, or more, and then whatever was made for the old is forgotten."""
        have = (0, 0, 0) if self._memory is None else self._memory.capacity
        needed = (len(planned.lanes), planned.most_steps, load.samples)
        if self._memory is None or any(n > h for n, h in zip(needed, have, strict=True)):
            lanes, steps, samples = (max(n, h) for n, h in zip(needed, have, strict=True))
            self._runners.clear()
            self._memory = None  # before there is a new one
            self._memory = self._new_memory(planned, load, (lanes, _rounded_up(steps), _rounded_up(samples)))
        return self._memory

    def _new_memory(self, planned: Planned, load: _Load, capacity: tuple[int, int, int]) -> StackMemory:
        lanes, steps, samples = capacity
        first = planned.plans[0][0]
        batch_size, dtype = first.table.shape[1], self._lane.model.dtype

        def rows(state: State) -> State:
            return {name: new_rows(t, lanes) for name, t in state.items()}

        def table(*shape: int, dtype: torch.dtype = dtype) -> Tensor:
            return torch.zeros(steps, lanes, *shape, dtype=dtype, device=self.device)

        return StackMemory(
            work=rows(load.work),
            sent=rows(load.sent),
            scalars={group: rows(values) for group, values in load.scalars.items()},
            pool_x=load.xs[0].new_zeros(samples, *load.xs[0].shape[1:]),
            pool_y=load.ys[0].new_zeros(samples),
            places=table(batch_size, dtype=torch.int64),
            counts=table(batch_size),
            noise={name: table(*drawn.shape[1:]) for name, drawn in first.noise.items()},
            step=torch.zeros(1, dtype=torch.int64, device=self.device),
        )


def _put(memory: StackMemory, load: _Load) -> None:
    def fill(there: State, values: State) -> None:
        for name, value in values.items():
            there[name][: len(value)].copy_(value)

    fill(memory.work, load.work)
    fill(memory.sent, load.sent)
    for group, values in load.scalars.items():
        fill(memory.scalars[group], values)
    torch.cat(list(load.xs), out=memory.pool_x[: load.samples])
    torch.cat(list(load.ys), out=memory.pool_y[: load.samples])


def _inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=lambda place: order[place])


def _rounded_up(count: int) -> int:
    """A little more, so that the next, slightly larger, call finds room."""
    unit = 1 << max(count.bit_length() - 4, 0)
    return -(-count // unit) * unit
