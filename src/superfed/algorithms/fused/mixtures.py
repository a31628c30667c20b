"""APFL and MAPPER, whose gradients are taken at a mixture of two models."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from superfed.algorithms.fused.descent import Descent
from superfed.core.flat import FlatNetwork, Stretch
from superfed.core.fused import Steps
from superfed.core.state import State


@dataclass(frozen=True)
class FusedAPFL:
    adaptive: bool

    def __call__(self, network: FlatNetwork, work: State, sent: State, steps: Steps) -> State:
        state = work | _copies(work, "w", "v", "velocity_w", "velocity_v")
        w, v, alpha = state["w"], state["v"], state["alpha"]
        stretch = network.stretch()
        move_w = Descent(stretch.parts, w, state["velocity_w"], steps)
        move_v = Descent(stretch.parts, v, state["velocity_v"], steps)
        for rows in steps.rows:
            batch = steps.batch(rows)
            apart = v - w if self.adaptive else None
            network.w.copy_(w)
            gradients = stretch.gradients(*batch)
            torch.lerp(w, v, alpha, out=network.w)
            move_w(gradients)
            gradients = stretch.gradients(*batch)
            move_v(gradients, float(alpha))
            if apart is not None:
                alpha = (alpha - steps.lr * _inner(apart, gradients, stretch)).clamp(0, 1)
        return state | {"alpha": alpha}


@dataclass(frozen=True)
class FusedMapper:
    phase: str

    def __call__(self, network: FlatNetwork, work: State, sent: State, steps: Steps) -> State:
        local = self.phase == "local"
        model, velocity = ("w_l", "velocity_l") if local else ("w", "velocity_w")
        state = work | _copies(work, model, velocity)
        w, w_l, lam = state["w"], state["w_l"], state["lam"]
        stretch = network.stretch()
        move = Descent(stretch.parts, state[model], state[velocity], steps)
        for rows in steps.rows:
            torch.lerp(w, w_l, lam, out=network.w)
            gradients = stretch.gradients(*steps.batch(rows))
            if local:
                new_lam = (lam - steps.lr * _inner(w_l - w, gradients, stretch)).clamp(0, 1)
                move(gradients, float(lam))
                lam = new_lam
            else:
                move(gradients, 1 - float(lam))
        return state | {"lam": lam}


def _copies(work: State, *names: str) -> State:
    return {name: work[name].clone() for name in names}


def _inner(vector: Tensor, gradients: Sequence[Tensor], stretch: Stretch) -> Tensor:
    parts = zip(stretch.parts, gradients, strict=True)
    return torch.stack([torch.dot(vector[part.slice], gradient) for part, gradient in parts]).sum()
