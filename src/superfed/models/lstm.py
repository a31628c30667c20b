"""Layers of LSTM cells for one client on a CPU and for many lanes at once."""

from math import sqrt

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from superfed.core.lane_ops.lstm import recurrence


class LSTM(nn.Module):
    """One layer with the parameters of ``nn.LSTM``, on inputs ``[time, batch, inputs]``; the first state is zero.

    Torch's own kernel is the fastest for one client on a CPU. Mapped over lanes it would compute one after another, and
    on a GPU it wants its weights in a block of memory of their own; there the layer takes the steps itself, and its
    gradients cannot be differentiated again.
    """

    in_lanes = False
    goes_through_time = True

    def __init__(self, inputs: int, units: int, *, bias: bool = True) -> None:
        super().__init__()
        self.inputs, self.units = inputs, units
        self.weight_ih = nn.Parameter(torch.empty(4 * units, inputs))
        self.weight_hh = nn.Parameter(torch.empty(4 * units, units))
        self.bias_ih = nn.Parameter(torch.empty(4 * units)) if bias else None
        self.bias_hh = nn.Parameter(torch.empty(4 * units)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / sqrt(self.units)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """The output at every time, ``[time, batch, units]``."""
        return self._in_steps(x) if self.in_lanes or x.device.type != "cpu" else self._in_one(x)

    def _in_one(self, x: Tensor) -> Tensor:
        zero = x.new_zeros(1, x.shape[1], self.units)
        weights: list[Tensor] = [self.weight_ih, self.weight_hh]
        if self.bias_ih is not None and self.bias_hh is not None:
            weights += [self.bias_ih, self.bias_hh]
        layers, dropout, both_ways, batch_first = 1, 0.0, False, False
        outputs, _, _ = torch.lstm(
            x, [zero, zero], weights, len(weights) == 4, layers, dropout, self.training, both_ways, batch_first
        )
        return outputs

    def _in_steps(self, x: Tensor) -> Tensor:
        """All inputs are projected at once, so that a step has one small product left."""
        bias = self.bias_ih + self.bias_hh if self.bias_ih is not None and self.bias_hh is not None else None
        return recurrence(F.linear(x, self.weight_ih, bias), self.weight_hh)

    def extra_repr(self) -> str:
        return f"{self.inputs}, {self.units}, bias={self.bias_ih is not None}"
