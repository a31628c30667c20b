"""FedAvg: McMahan et al., Communication-Efficient Learning of Deep Networks from Decentralized Data, 2017."""

from dataclasses import dataclass

import torch
from torch import Tensor

from superfed.core.algorithm import Algorithm, Context
from superfed.core.batch import Batch
from superfed.core.state import State
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class FedAvg(Algorithm):
    """One global model: clients train it on their data, the server averages by training-set size."""

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        return {"w": sent["w"], "velocity": torch.zeros_like(sent["w"])}

    def objective(self, w: Tensor, sent: State, batch: Batch, ctx: Context) -> Tensor:
        return ctx.task_loss(w, batch)

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        (gradient,) = ctx.gradients(lambda w: self.objective(w, sent, batch, ctx), work["w"])
        w, velocity = ctx.sgd(work["w"], gradient, work["velocity"])
        return {"w": w, "velocity": velocity}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        return kept, {"w": work["w"]}

    def personal_model(self, kept: State, sent: State, lam: Tensor, model: VectorModel) -> Tensor:
        return sent["w"]
