"""Ditto: Li, Hu, Beirami, Smith, Fair and Robust Federated Learning Through Personalization, ICML 2021."""

from dataclasses import dataclass

import torch
from torch import Tensor

from superfed.core.algorithm import Algorithm, Context, FirstModel, Phase
from superfed.core.batch import Batch
from superfed.core.errors import require
from superfed.core.maths import sq_norm
from superfed.core.state import State
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class Ditto(Algorithm):
    """FedAvg, and beside it a personal model v per client: F(v) + λ/2 ‖v − w_g‖², w_g as the round began."""

    lam: float = 1.0  # λ: how near v is held to w_g
    personal_epochs: int | None = None  # for v; without it, the run's local epochs
    global_epochs: int | None = None  # for w; without it, the run's local epochs

    def __post_init__(self) -> None:
        require(self.lam >= 0, "lam", f"must be 0 or more, not {self.lam}")
        for name in ("personal_epochs", "global_epochs"):
            value = getattr(self, name)
            require(value is None or value >= 0, name, f"must be 0 or more, not {value}")

    def phases(self, local_epochs: int) -> tuple[Phase, ...]:
        personal = local_epochs if self.personal_epochs is None else self.personal_epochs
        shared = local_epochs if self.global_epochs is None else self.global_epochs
        return (Phase("personal", personal), Phase("global", shared))

    def init_client(self, first: FirstModel, model: VectorModel) -> State:
        return {"v": first.shared()}

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        w, v = sent["w"], kept["v"]
        return {"w": w, "v": v, "velocity_w": torch.zeros_like(w), "velocity_v": torch.zeros_like(v)}

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        if ctx.phase == "personal":

            def objective(v: Tensor) -> Tensor:
                return ctx.task_loss(v, batch) + self.lam / 2 * sq_norm(v - sent["w"])

            (gradient,) = ctx.gradients(objective, work["v"])
            v, velocity = ctx.sgd(work["v"], gradient, work["velocity_v"])
            return work | {"v": v, "velocity_v": velocity}
        (gradient,) = ctx.gradients(lambda w: ctx.task_loss(w, batch), work["w"])
        w, velocity = ctx.sgd(work["w"], gradient, work["velocity_w"])
        return work | {"w": w, "velocity_w": velocity}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        return {"v": work["v"]}, {"w": work["w"]}

    def personal_model(self, kept: State, sent: State, lam: Tensor, model: VectorModel) -> Tensor:
        return kept["v"]
