"""L2GD: Hanzely, Richtárik, Federated Learning of a Mixture of Global and Local Models, 2020."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from superfed.algorithms.local import Local
from superfed.core.algorithm import Cohort, Context
from superfed.core.batch import Batch
from superfed.core.errors import require
from superfed.core.state import State
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class L2GD(Local):
    """Each client has a model x_i; by a coin a round is local training, or a move of all towards their mean x̄.

    It is made for all clients in every round; with fewer, x̄ is the mean of those sampled last.
    """

    p: float = 0.5  # probability of a move towards the mean
    lam: float = 1.0  # λ: how much clients' models are to agree

    def __post_init__(self) -> None:
        require(0 <= self.p < 1, "p", f"must be at least 0 and less than 1, not {self.p}")
        require(self.lam >= 0, "lam", f"must be 0 or more, not {self.lam}")

    def round_values(self, round: int, rounds: int, draw: float) -> Mapping[str, float]:
        return {"aggregating": float(draw < self.p and round < rounds)}  # who trains alone afterwards meets nobody

    def init_server(self, fresh: Tensor, model: VectorModel) -> State:
        return {"w": fresh}

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        trained = super().step(work, sent, batch, ctx)
        local = ctx.round["aggregating"] == 0
        return trained | {"w": torch.where(local, trained["w"], work["w"])}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        x, mean = work["w"], sent["w"]
        # The paper's αλ/(np), with its local step size α/(n(1 − p)) as the rate; none where p = 0.
        wanted = ctx.sgd.lr * (1 - self.p) * self.lam / torch.clamp(torch.as_tensor(self.p), min=1e-30)
        move = ctx.round["aggregating"] * torch.clamp(wanted, max=1)
        x = torch.lerp(x, mean, move)
        return {"w": x}, {"w": x}

    def aggregate(self, server: State, uploads: State, cohort: Cohort) -> State:
        return {"w": cohort.center(uploads["w"], torch.ones_like(cohort.samples), server["w"])}

    def global_model(self, server: State) -> Tensor | None:
        return server["w"]
