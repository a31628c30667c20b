"""Stochastic gradient descent as ``torch.optim.SGD`` does it, as a pure function."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class SGD:
    """Rate, momentum and weight decay are tensors of no dimension, so that each lane may have its own."""

    lr: Tensor
    momentum: Tensor
    weight_decay: Tensor

    def __call__(self, w: Tensor, gradient: Tensor, velocity: Tensor) -> tuple[Tensor, Tensor]:
        """The next weights and velocity. A velocity of zeros is a fresh optimiser."""
        descent = torch.addcmul(gradient, self.weight_decay, w)
        velocity = torch.addcmul(descent, self.momentum, velocity)
        return torch.addcmul(w, -self.lr, velocity), velocity
