"""SuPerFed's two models in one pass.

The gradient of the task at W(λ) is shared: (1 − λ) of it is w_f's and λ of it w_l's. The gradients of both regularisers
are known: 2μ (w_f − w_g), and with c = ⟨w_f, w_l⟩, a = ‖w_f‖², b = ‖w_l‖²

    ∂ν cos²/∂w_f = 2ν c/(ab) w_l − 2ν c²/(a²b) w_f,    and the same for w_l with both exchanged.

The pass that updates both models also finds the next a, b and c, and writes W at the next λ.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from superfed.algorithms.fused.descent import Pull
from superfed.algorithms.fused.kernels import kernels
from superfed.algorithms.fused.one_model import trained
from superfed.algorithms.superfed import SuPerFed
from superfed.core.flat import FlatNetwork, Piece
from superfed.core.fused import Steps
from superfed.core.state import State


@dataclass(frozen=True)
class FusedSuPerFed:
    method: SuPerFed

    def __call__(self, network: FlatNetwork, work: State, sent: State, steps: Steps) -> State:
        pull = 2 * self.method.mu
        if not steps.round["personalised"]:  # λ = 0, and w_l stays as it is
            towards = Pull(sent["w"], pull) if pull else None
            w_f, velocity = trained(network, work["w_f"], work["velocity_f"], steps, pull=towards)
            return work | {"w_f": w_f, "velocity_f": velocity}
        return self._both(network, work, sent, steps, pull)

    def _both(self, network: FlatNetwork, work: State, sent: State, steps: Steps, pull: float) -> State:
        names = ("w_f", "w_l", "velocity_f", "velocity_l")
        state = {name: work[name].clone() for name in names}
        number: Any = network.w.numpy().dtype.type
        vectors = [t.numpy() for t in (*state.values(), sent["w"], network.w)]
        stretch = network.stretch(by_layer=self.method.mixing == "layer")
        parts = stretch.parts
        cut = [[vector[part.slice] for vector in vectors] for part in parts]
        lams = [_by_part(lam, parts, number) for lam in steps.noise["lam"]]
        a = b = c = 0.0
        for (fed, own, *_, mixed), lam in zip(cut, lams[0], strict=True):
            sums = kernels().mix(fed, own, mixed, lam)
            a, c, b = a + sums[0], c + sums[1], b + sums[2]
        constants = [number(value) for value in (steps.lr, steps.momentum, pull)]
        step = kernels().superfed
        for rows, lam, next_lam in zip(steps.rows, lams, [*lams[1:], lams[-1]], strict=True):
            factors = self._factors(a, b, c, steps.weight_decay, network.w.dtype)
            gradients = stretch.gradients(*steps.batch(rows))
            a = b = c = 0.0
            numbers = [number(value) for value in factors]
            for (fed, own, *speeds, g, mixed), gradient, at, then in zip(cut, gradients, lam, next_lam, strict=True):
                sums = step(fed, own, *speeds, gradient.numpy(), g, mixed, at, then, *constants, *numbers)
                a, c, b = a + sums[0], c + sums[1], b + sums[2]
        return work | state

    def _factors(self, a: float, b: float, c: float, weight_decay: float, dtype: torch.dtype) -> list[float]:
        """How much of w_f, of the other model, and of w_l joins the gradients: those of ν cos², and weight decay."""
        tiny = torch.finfo(dtype).tiny
        both = 2 * self.method.nu * c / max(a * b, tiny)
        own = both * c if a * b > tiny else 0.0  # below, the denominator is a constant
        return [weight_decay - (own / a if own else 0.0), both, weight_decay - (own / b if own else 0.0)]


def _by_part(lam: Tensor, parts: list[Piece], number: Any) -> list[Any]:
    """λ for each part: one for all, or its layer's."""
    return [number(lam if lam.dim() == 0 else lam[part.layer]) for part in parts]
