"""pFedMe: T. Dinh, Tran, Nguyen, Personalized Federated Learning with Moreau Envelopes, NeurIPS 2020."""

from dataclasses import dataclass

from torch import Tensor

from superfed.core.algorithm import Algorithm, Cohort, Context, FirstModel
from superfed.core.batch import Batch
from superfed.core.errors import require
from superfed.core.state import State
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class PFedMe(Algorithm):
    """Each client's personal θ is held near its w, and w follows θ: the gradient of the Moreau envelope is λ(w − θ)."""

    lam: float = 15.0  # λ: how near
    inner_steps: int = 5  # K: gradient steps towards θ on each mini-batch
    inner_lr: float = 0.01  # the rate of these steps
    beta: float = 1.0  # β: how far the server moves to the clients' mean

    @property
    def gradients(self) -> int:
        return self.inner_steps

    def __post_init__(self) -> None:
        require(self.lam > 0, "lam", f"must be more than 0, not {self.lam}")
        require(self.inner_steps >= 1, "inner_steps", f"must be 1 or more, not {self.inner_steps}")
        require(self.inner_lr > 0, "inner_lr", f"must be more than 0, not {self.inner_lr}")
        require(self.beta > 0, "beta", f"must be more than 0, not {self.beta}: at 0 the global model would never move")

    @property
    def title(self) -> str:
        return "pFedMe"

    def init_client(self, first: FirstModel, model: VectorModel) -> State:
        return {"theta": first.shared()}

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        return {"w": sent["w"], "theta": sent["w"]}

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        w, theta = work["w"], work["theta"]
        for _ in range(self.inner_steps):
            (gradient,) = ctx.gradients(lambda at: ctx.task_loss(at, batch), theta)
            theta = theta - self.inner_lr * (gradient + self.lam * (theta - w))
        return {"w": w - ctx.sgd.lr * self.lam * (w - theta), "theta": theta}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        return {"theta": work["theta"]}, {"w": work["w"]}

    def aggregate(self, server: State, uploads: State, cohort: Cohort) -> State:
        mean = super().aggregate(server, uploads, cohort)
        return {"w": (1 - self.beta) * server["w"] + self.beta * mean["w"]}

    def personal_model(self, kept: State, sent: State, lam: Tensor, model: VectorModel) -> Tensor:
        return kept["theta"]
