"""A method's functions for one lane, with that lane's own numbers put in; ``vmap`` makes them functions of many."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from superfed.core.algorithm import Algorithm, Context, functional_gradients
from superfed.core.batch import Batch
from superfed.core.sgd import SGD
from superfed.core.state import State
from superfed.core.vector import VectorModel
from superfed.engine.lanes import Lane
from superfed.engine.precision import Precision, loss_in

Scalars = dict[str, State]


class LaneStep:
    def __init__(self, algorithm: Algorithm, model: VectorModel, precision: Precision = "float32") -> None:
        self.algorithm, self.model = algorithm, model
        self._loss = loss_in(precision, model)

    def begin(self, kept: State, sent: State, scalars: Scalars) -> State:
        method, ctx = self._bound(scalars)
        return method.begin(kept, sent, ctx)

    def step(
        self,
        phase: str,
        work: State,
        sent: State,
        scalars: Scalars,
        x: Tensor,
        y: Tensor,
        counts: Tensor,
        noise: State,
    ) -> State:
        """One mini-batch. A lane that has no samples left in it stays as it is."""
        method, ctx = self._bound(scalars)
        new = method.step(work, sent, Batch(x, y, counts), replace(ctx, phase=phase, noise=noise))
        has_steps_left = counts.sum() > 0
        return {
            name: old if new[name] is old else torch.where(has_steps_left, new[name], old) for name, old in work.items()
        }

    def finish(self, work: State, kept: State, sent: State, scalars: Scalars) -> tuple[State, State]:
        method, ctx = self._bound(scalars)
        return method.finish(work, kept, sent, ctx)

    def _bound(self, scalars: Scalars) -> tuple[Algorithm, Context]:
        ctx = Context(self.model, SGD(**scalars["sgd"]), functional_gradients, "", scalars["round"], {}, self._loss)
        return self.algorithm.with_lane_values(scalars["method"]), ctx


def lane_scalars(lanes: Sequence[Lane], device: torch.device) -> Scalars:
    """One number per lane for each scalar a step uses."""

    def columns(rows: Sequence[Mapping[str, float]]) -> State:
        dtype = lanes[0].task.model.dtype
        return {name: torch.tensor([r[name] for r in rows], dtype=dtype).to(device) for name in rows[0]}

    return {
        "sgd": columns([lane.task.sgd_values(lane.round) for lane in lanes]),
        "method": columns([lane.task.algorithm.lane_values() for lane in lanes]),
        "round": columns([lane.task.round_values(lane.round) for lane in lanes]),
    }
