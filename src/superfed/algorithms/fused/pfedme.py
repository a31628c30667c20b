"""pFedMe: θ descends some times on each batch, pulled towards w, which then follows it."""

from dataclasses import dataclass, replace

import torch

from superfed.algorithms.fused.descent import Descent, Pull
from superfed.algorithms.pfedme import PFedMe
from superfed.core.flat import FlatNetwork
from superfed.core.fused import Steps
from superfed.core.state import State


@dataclass(frozen=True)
class FusedPFedMe:
    method: PFedMe

    def __call__(self, network: FlatNetwork, work: State, sent: State, steps: Steps) -> State:
        method, w, theta = self.method, work["w"].clone(), network.w
        theta.copy_(work["theta"])
        stretch = network.stretch()
        inner = replace(steps, lr=method.inner_lr, momentum=0.0, weight_decay=0.0)
        descend = Descent(stretch.parts, theta, torch.zeros_like(theta), inner, pull=Pull(w, method.lam))
        for rows in steps.rows:
            batch = steps.batch(rows)
            for _ in range(method.inner_steps):
                descend(stretch.gradients(*batch))
            w.add_(w - theta, alpha=-steps.lr * method.lam)
        return {"w": w, "theta": theta.clone()}
