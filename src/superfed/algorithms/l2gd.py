"""L2GD: Hanzely, Richtárik, Federated Learning of a Mixture of Global and Local Models, 2020."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from superfed.core.algorithm import Algorithm, Cohort, Context, FirstModel
from superfed.core.batch import Batch
from superfed.core.errors import require
from superfed.core.maths import weighted_mean
from superfed.core.state import State
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class L2GD(Algorithm):
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

    def init_client(self, first: FirstModel, model: VectorModel) -> State:
        return {"w": first.shared()}

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        return {"w": kept["w"], "velocity": torch.zeros_like(kept["w"])}

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        (gradient,) = ctx.gradients(lambda w: ctx.task_loss(w, batch), work["w"])
        w, velocity = ctx.sgd(work["w"], gradient, work["velocity"])
        local = ctx.round["aggregating"] == 0
        return {"w": torch.where(local, w, work["w"]), "velocity": velocity}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        x, mean = work["w"], sent["w"]
        # The paper's αλ/(np), with its local step size α/(n(1 − p)) as the rate; none where p = 0.
        wanted = ctx.sgd.lr * (1 - self.p) * self.lam / torch.clamp(torch.as_tensor(self.p), min=1e-30)
        move = ctx.round["aggregating"] * torch.clamp(wanted, max=1)
        x = torch.lerp(x, mean, move)
        return {"w": x}, {"w": x}

    def aggregate(self, server: State, uploads: State, cohort: Cohort) -> State:
        return {"w": weighted_mean(uploads["w"], torch.ones_like(cohort.samples))}

    def personal_model(self, kept: State, sent: State, lam: Tensor, model: VectorModel) -> Tensor:
        return kept["w"]
