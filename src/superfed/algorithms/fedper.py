"""FedPer: Arivazhagan et al., Federated Learning with Personalization Layers, 2019."""

from dataclasses import dataclass

import torch
from torch import Tensor

from superfed.core.algorithm import Algorithm, Context, FirstModel
from superfed.core.batch import Batch
from superfed.core.state import State
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class FedPer(Algorithm):
    """The body is shared and the head is each client's own; both are trained together."""

    def init_server(self, fresh: Tensor, model: VectorModel) -> State:
        return {"w": fresh[model.body]}

    def init_client(self, first: FirstModel, model: VectorModel) -> State:
        return {"head": first.shared()[model.head]}

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        w = torch.cat([sent["w"], kept["head"]])
        return {"w": w, "velocity": torch.zeros_like(w)}

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        (gradient,) = ctx.gradients(lambda w: ctx.task_loss(w, batch), work["w"])
        w, velocity = ctx.sgd(work["w"], gradient, work["velocity"])
        return {"w": w, "velocity": velocity}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        w, model = work["w"], ctx.model
        return {"head": w[model.head]}, {"w": w[model.body]}

    def personal_model(self, kept: State, sent: State, lam: Tensor, model: VectorModel) -> Tensor:
        return torch.cat([sent["w"], kept["head"]])

    def global_model(self, server: State) -> Tensor | None:
        return None
