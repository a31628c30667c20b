"""Local: every client for itself, the baseline that any collaboration must beat."""

from dataclasses import dataclass

import torch
from torch import Tensor

from superfed.core.algorithm import Algorithm, Context, FirstModel
from superfed.core.batch import Batch
from superfed.core.state import State
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class Local(Algorithm):
    """Each client trains a model of its own when it is sampled; nothing is exchanged."""

    def init_server(self, fresh: Tensor, model: VectorModel) -> State:
        return {}

    def init_client(self, first: FirstModel, model: VectorModel) -> State:
        return {"w": first.shared()}

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        return {"w": kept["w"], "velocity": torch.zeros_like(kept["w"])}

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        (gradient,) = ctx.gradients(lambda w: ctx.task_loss(w, batch), work["w"])
        w, velocity = ctx.sgd(work["w"], gradient, work["velocity"])
        return {"w": w, "velocity": velocity}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        return {"w": work["w"]}, {}

    def personal_model(self, kept: State, sent: State, lam: Tensor, model: VectorModel) -> Tensor:
        return kept["w"]

    def global_model(self, server: State) -> Tensor | None:
        return None
