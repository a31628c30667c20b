"""SuPerFed: Hahn et al., Connecting Low-Loss Subspace for Personalized Federated Learning, KDD'22."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from superfed.core.algorithm import Algorithm, Context, FirstModel, host_only
from superfed.core.batch import Batch
from superfed.core.errors import require
from superfed.core.maths import cos_squared, sq_norm
from superfed.core.state import State
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class SuPerFed(Algorithm):
    """A federated and a local model per client, mixed at random λ and pushed towards orthogonality.

    Algorithm 1 and Eq. 3-6. w_f is the federated model, w_l the local one, w_g the global one. Deviations from the
    printed algorithm: docs/algorithms/superfed.md.
    """

    mu: float = 0.01  # μ, Eq. 4: proximity of w_f to w_g
    nu: float = 1.0  # ν, Eq. 4: orthogonality of w_f and w_l
    mixing: Literal["model", "layer"] = "model"  # one λ for all, or one per layer
    start: float | int = host_only(0.4)  # L: a fraction of the rounds (0.4) or a round (40)

    mixes = True

    def __post_init__(self) -> None:
        require(self.mu >= 0, "mu", f"must be 0 or more, not {self.mu}")
        require(self.nu >= 0, "nu", f"must be 0 or more, not {self.nu}")
        require(self.mixing in ("model", "layer"), "mixing", f"must be 'model' or 'layer', not {self.mixing!r}")
        require(self.start >= 0, "start", f"must be 0 or more, not {self.start}")
        require(
            isinstance(self.start, int) or self.start <= 1,
            "start",
            f"{self.start} is beyond the last round; give a fraction of the rounds (0.4) or a whole round number (40)",
        )

    @property
    def title(self) -> str:
        return "SuPerFed-MM" if self.mixing == "model" else "SuPerFed-LM"

    def start_round(self, rounds: int) -> int:
        """L = ⌊L/R · R⌋, with 0.29 · 100 counted as 29."""
        return self.start if isinstance(self.start, int) else int(round(self.start * rounds, 9))

    def check(self, rounds: int) -> None:
        start = self.start_round(rounds)
        require(start <= rounds, "start", f"round {start} is beyond the last of {rounds} rounds")

    def round_values(self, round: int, rounds: int, draw: float) -> Mapping[str, float]:
        return {"personalised": float(round >= self.start_round(rounds))}

    def noise(self, model: VectorModel) -> Mapping[str, tuple[int, ...]]:
        return {"lam": () if self.mixing == "model" else (len(model.layers),)}

    def init_client(self, first: FirstModel, model: VectorModel) -> State:
        return {"w_l": first.own()}

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        w_g, w_l = sent["w"], kept["w_l"]
        return {"w_f": w_g, "w_l": w_l, "velocity_f": torch.zeros_like(w_g), "velocity_l": torch.zeros_like(w_l)}

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        w_g, personalised = sent["w"], ctx.round["personalised"]
        lam = ctx.noise["lam"] * personalised  # Alg. 1: λ = 0 while r < L
        if self.mixing == "layer":
            lam = ctx.spread(lam)

        def objective(w_f: Tensor, w_l: Tensor) -> Tensor:  # Eq. 4
            return (
                ctx.task_loss(torch.lerp(w_f, w_l, lam), batch)
                + self.mu * sq_norm(w_f - w_g)
                + self.nu * personalised * cos_squared(w_f, w_l)
            )

        gradient_f, gradient_l = ctx.gradients(objective, work["w_f"], work["w_l"])  # Eq. 5, 6
        w_f, velocity_f = ctx.sgd(work["w_f"], gradient_f, work["velocity_f"])
        w_l, velocity_l = ctx.sgd(work["w_l"], gradient_l, work["velocity_l"])
        w_l = torch.where(personalised > 0, w_l, work["w_l"])  # frozen, weight decay too, while r < L
        return {"w_f": w_f, "w_l": w_l, "velocity_f": velocity_f, "velocity_l": velocity_l}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        return {"w_l": work["w_l"]}, {"w": work["w_f"]}

    def personal_model(self, kept: State, sent: State, lam: Tensor, model: VectorModel) -> Tensor:
        return torch.lerp(sent["w"], kept["w_l"], lam)  # W(λ) with the global model in the federated one's place
