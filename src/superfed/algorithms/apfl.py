"""APFL: Deng, Kamani, Mahdavi, Adaptive Personalized Federated Learning, 2020."""

from dataclasses import dataclass

import torch
from torch import Tensor

from superfed.core.algorithm import Algorithm, Context, FirstModel
from superfed.core.batch import Batch
from superfed.core.errors import require
from superfed.core.state import State
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class APFL(Algorithm):
    """A federated model w and a local one v per client, mixed at α: v̄ = αv + (1 − α)w, each with a step of its own."""

    alpha: float = 0.25  # α, or where it starts
    adaptive: bool = False  # fit each client's α by gradient steps

    mixes = True

    @property
    def gradients(self) -> int:
        return 2

    def __post_init__(self) -> None:
        require(0 <= self.alpha <= 1, "alpha", f"must be from 0 to 1, not {self.alpha}")

    def init_client(self, first: FirstModel, model: VectorModel) -> State:
        return {"v": first.shared(), "alpha": torch.tensor(self.alpha, dtype=model.dtype)}

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        w, v = sent["w"], kept["v"]
        return {
            "w": w,
            "v": v,
            "alpha": kept["alpha"],
            "velocity_w": torch.zeros_like(w),
            "velocity_v": torch.zeros_like(v),
        }

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        w, v, alpha = work["w"], work["v"], work["alpha"]
        (at_w,) = ctx.gradients(lambda at: ctx.task_loss(at, batch), w)
        (at_mixture,) = ctx.gradients(lambda at: ctx.task_loss(at, batch), torch.lerp(w, v, alpha))
        new_w, velocity_w = ctx.sgd(w, at_w, work["velocity_w"])
        new_v, velocity_v = ctx.sgd(v, alpha * at_mixture, work["velocity_v"])  # ∇_v f(v̄)
        if self.adaptive:
            alpha = (alpha - ctx.sgd.lr * ((v - w) * at_mixture).sum()).clamp(0, 1)
        return {"w": new_w, "v": new_v, "alpha": alpha, "velocity_w": velocity_w, "velocity_v": velocity_v}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        return {"v": work["v"], "alpha": work["alpha"]}, {"w": work["w"]}

    def personal_model(self, kept: State, sent: State, lam: Tensor, model: VectorModel) -> Tensor:
        return torch.lerp(sent["w"], kept["v"], lam)

    def own_lambda(self, kept: State) -> Tensor | None:
        return kept["alpha"]
