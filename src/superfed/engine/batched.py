"""Many lanes at once: the one-client step of a method mapped over a stack of lanes.

Lanes may belong to different runs and clients. Short batches are padded with samples of weight 0, and a lane that has no
steps left stays as it is while others go on; a method sees neither.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.func import vmap

from superfed.core.algorithm import Algorithm, Context, functional_gradients
from superfed.core.batch import Batch
from superfed.core.sgd import SGD
from superfed.core.state import State, moved, row, stacked
from superfed.core.vector import VectorModel
from superfed.engine.lanes import Lane
from superfed.engine.local import Update
from superfed.engine.plan import PhasePlan, plan_update
from superfed.engine.task import Task, as_inputs


def group_key(task: Task) -> tuple[object, ...]:
    """Lanes of runs with equal keys can share one program."""
    schedule = task.schedule
    shape = (tuple(task.data.input_shape), schedule.batch_size, schedule.local_epochs)
    return (task.algorithm.shape_key(), id(task.model), shape)


def batched_update(lanes: Sequence[Lane], device: torch.device) -> list[Update]:
    """The local updates of lanes with one ``group_key``, computed together on ``device``."""
    one_lane = _OneLane(lanes[0].task.algorithm, lanes[0].task.model.for_lanes().to(device))
    kept = stacked([moved(lane.kept(), device) for lane in lanes])
    sent = stacked([moved(lane.sent, device) for lane in lanes])
    scalars = _lane_scalars(lanes, device)
    samples = _LaneSamples.of(lanes, device)
    plans = [plan_update(lane.task, lane.client, lane.round) for lane in lanes]
    with torch.no_grad():
        work = vmap(one_lane.begin)(kept, sent, scalars)
        for phase in zip(*plans, strict=True):
            step_lanes = vmap(partial(one_lane.step, phase[0].phase.name))
            steps = _PhaseSteps.of(phase, samples.starts, one_lane.model.dtype)
            for step, (places, counts) in enumerate(zip(steps.places, steps.counts, strict=True)):
                noise = {name: rows[step] for name, rows in steps.noise.items()}
                work = step_lanes(work, sent, scalars, samples.x[places], samples.y[places], counts, noise)
        new_kept, upload = vmap(one_lane.finish)(work, kept, sent, scalars)
    cpu = torch.device("cpu")
    return [Update(moved(row(new_kept, i), cpu), row(upload, i)) for i in range(len(lanes))]


class _OneLane:
    """A method's functions for one lane, with that lane's own numbers put in; ``vmap`` makes them functions of many."""

    def __init__(self, algorithm: Algorithm, model: VectorModel) -> None:
        self.algorithm, self.model = algorithm, model

    def begin(self, kept: State, sent: State, scalars: dict[str, State]) -> State:
        method, ctx = self._bound(scalars)
        return method.begin(kept, sent, ctx)

    def step(
        self,
        phase: str,
        work: State,
        sent: State,
        scalars: dict[str, State],
        x: Tensor,
        y: Tensor,
        counts: Tensor,
        noise: State,
    ) -> State:
        method, ctx = self._bound(scalars)
        new = method.step(work, sent, Batch(x, y, counts), replace(ctx, phase=phase, noise=noise))
        has_steps_left = counts.sum() > 0
        return {name: torch.where(has_steps_left, new[name], old) for name, old in work.items()}

    def finish(self, work: State, kept: State, sent: State, scalars: dict[str, State]) -> tuple[State, State]:
        method, ctx = self._bound(scalars)
        return method.finish(work, kept, sent, ctx)

    def _bound(self, scalars: dict[str, State]) -> tuple[Algorithm, Context]:
        ctx = Context(self.model, SGD(**scalars["sgd"]), functional_gradients, "", scalars["round"], {})
        return self.algorithm.with_lane_values(scalars["method"]), ctx


def _lane_scalars(lanes: Sequence[Lane], device: torch.device) -> dict[str, State]:
    """One number per lane for each scalar a step uses."""

    def columns(rows: Sequence[Mapping[str, float]]) -> State:
        dtype = lanes[0].task.model.dtype
        return {name: torch.tensor([r[name] for r in rows], dtype=dtype, device=device) for name in rows[0]}

    return {
        "sgd": columns([lane.task.sgd_values(lane.round) for lane in lanes]),
        "method": columns([lane.task.algorithm.lane_values() for lane in lanes]),
        "round": columns([lane.task.round_values(lane.round) for lane in lanes]),
    }


@dataclass(frozen=True)
class _LaneSamples:
    """The lanes' training samples in one block, and where each lane's begin."""

    x: Tensor
    y: Tensor
    starts: Tensor

    @classmethod
    def of(cls, lanes: Sequence[Lane], device: torch.device) -> "_LaneSamples":
        parts = [lane.task.data.train(lane.client) for lane in lanes]
        x = torch.cat([as_inputs(part.x, lane.task.model) for part, lane in zip(parts, lanes, strict=True)])
        starts = torch.from_numpy(np.cumsum([0] + [len(part) for part in parts[:-1]]))
        return cls(x.to(device), torch.cat([part.y for part in parts]).to(device), starts.to(device))


@dataclass(frozen=True)
class _PhaseSteps:
    """For every step and lane: the samples of its batch, which of them count, and its noise."""

    places: Tensor  # [steps, lanes, batch_size]
    counts: Tensor
    noise: State

    @classmethod
    def of(cls, plans: Sequence[PhasePlan], starts: Tensor, dtype: torch.dtype) -> "_PhaseSteps":
        most = max(plan.steps for plan in plans)
        table = torch.stack([_longer(torch.from_numpy(plan.table), most, -1) for plan in plans], dim=1)
        table = table.to(starts.device)
        noise = {
            name: torch.stack([_longer(plan.noise[name], most, 0) for plan in plans], dim=1).to(starts.device)
            for name in plans[0].noise
        }
        return cls(table.clamp_min(0) + starts[:, None], (table >= 0).to(dtype), noise)


def _longer(rows: Tensor, length: int, fill: int) -> Tensor:
    return torch.cat([rows, rows.new_full((length - len(rows), *rows.shape[1:]), fill)])
