"""LG-FedAvg: Liang et al., Think Locally, Act Globally: Federated Learning with Local and Global Representations, 2020."""

from dataclasses import dataclass

import torch
from torch import Tensor

from superfed.algorithms.fedper import FedPer
from superfed.core.algorithm import Context, FirstModel
from superfed.core.state import State
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class LGFedAvg(FedPer):
    """The head is shared and the body is each client's own; both are trained together."""

    @property
    def title(self) -> str:
        return "LG-FedAvg"

    def init_server(self, fresh: Tensor, model: VectorModel) -> State:
        return {"w": fresh[model.head]}

    def init_client(self, first: FirstModel, model: VectorModel) -> State:
        return {"body": first.shared()[model.body]}

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        w = torch.cat([kept["body"], sent["w"]])
        return {"w": w, "velocity": torch.zeros_like(w)}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        w, model = work["w"], ctx.model
        return {"body": w[model.body]}, {"w": w[model.head]}

    def personal_model(self, kept: State, sent: State, lam: Tensor, model: VectorModel) -> Tensor:
        return torch.cat([kept["body"], sent["w"]])
