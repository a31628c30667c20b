"""MAPPER: Mansour, Mohri, Ro, Suresh, Three Approaches for Personalization with Applications to Federated Learning, 2020."""

from dataclasses import dataclass

import torch
from torch import Tensor

from superfed.core.algorithm import Algorithm, Context, FirstModel, Phase
from superfed.core.batch import Batch
from superfed.core.errors import require
from superfed.core.state import State
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class Mapper(Algorithm):
    """Each client fits a local model w_l and a weight λ to the global model, then improves that for the mixture.

    The mixture is λ w_l + (1 − λ) w. One client a round is the original.
    """

    lam: float = 0.5  # where each client's λ starts
    global_epochs: int | None = None  # for the global model; without it, the run's local epochs

    mixes = True

    def __post_init__(self) -> None:
        require(0 <= self.lam <= 1, "lam", f"must be from 0 to 1, not {self.lam}")
        epochs = self.global_epochs
        require(epochs is None or epochs >= 0, "global_epochs", f"must be 0 or more, not {epochs}")

    @property
    def title(self) -> str:
        return "MAPPER"

    def phases(self, local_epochs: int) -> tuple[Phase, ...]:
        shared = local_epochs if self.global_epochs is None else self.global_epochs
        return (Phase("local", local_epochs), Phase("global", shared))

    def init_client(self, first: FirstModel, model: VectorModel) -> State:
        return {"w_l": first.shared(), "lam": torch.tensor(self.lam, dtype=model.dtype)}

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        w, w_l = sent["w"], kept["w_l"]
        return {
            "w": w,
            "w_l": w_l,
            "lam": kept["lam"],
            "velocity_w": torch.zeros_like(w),
            "velocity_l": torch.zeros_like(w_l),
        }

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        w, w_l, lam = work["w"], work["w_l"], work["lam"]
        (at_mixture,) = ctx.gradients(lambda at: ctx.task_loss(at, batch), torch.lerp(w, w_l, lam))
        if ctx.phase == "local":
            new_l, velocity = ctx.sgd(w_l, lam * at_mixture, work["velocity_l"])
            new_lam = (lam - ctx.sgd.lr * ((w_l - w) * at_mixture).sum()).clamp(0, 1)
            return work | {"w_l": new_l, "velocity_l": velocity, "lam": new_lam}
        new_w, velocity = ctx.sgd(w, (1 - lam) * at_mixture, work["velocity_w"])
        return work | {"w": new_w, "velocity_w": velocity}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        return {"w_l": work["w_l"], "lam": work["lam"]}, {"w": work["w"]}

    def personal_model(self, kept: State, sent: State, lam: Tensor, model: VectorModel) -> Tensor:
        return torch.lerp(sent["w"], kept["w_l"], lam)

    def own_lambda(self, kept: State) -> Tensor | None:
        return kept["lam"]
