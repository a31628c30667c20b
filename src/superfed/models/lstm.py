"""Layers of LSTM cells for one client on a CPU and for many lanes at once."""

from math import sqrt

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from superfed.core.lane_ops import lstm_waves
from superfed.core.lane_ops.lstm import recurrence


class LSTM(nn.Module):
    """One layer with the parameters of ``nn.LSTM``, on inputs ``[time, batch, inputs]``; the first state is zero.

    Torch's own kernel is the fastest for one client on a CPU. Mapped over lanes it would compute one after another, and
    on a GPU it wants its weights in a block of memory of their own; there the layer takes the steps itself, and its
    gradients cannot be differentiated again.
    """

    in_lanes = False

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
        return recurrence(self.projected(x), self.weight_hh)

    def projected(self, x: Tensor) -> Tensor:
        """What the gates get from the inputs, ``[time, batch, 4 * units]``."""
        return F.linear(x, self.weight_ih, self.bias)

    @property
    def bias(self) -> Tensor | None:
        return self.bias_ih + self.bias_hh if self.bias_ih is not None and self.bias_hh is not None else None

    def extra_repr(self) -> str:
        return f"{self.inputs}, {self.units}, bias={self.bias_ih is not None}"


class LSTMs(nn.Sequential):
    """Layers of cells on top of each other; in lanes on a GPU, and with small batches, all at once in waves."""

    in_lanes = False

    def __init__(self, layers: list[LSTM]) -> None:
        super().__init__(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """The output of the last at every time, ``[time, batch, units]``."""
        if self.in_lanes and x.is_cuda and len(self) > 1 and x.shape[1] <= lstm_waves.ROWS and self._alike:
            return self.in_waves(x)
        for layer in self:
            x = layer(x)
        return x

    def in_waves(self, x: Tensor) -> Tensor:
        first, *others = self._layers
        return lstm_waves.stacked_recurrence(
            first.projected(x),
            [layer.weight_hh for layer in self._layers],
            [layer.weight_ih for layer in others],
            [layer.bias for layer in others],
        )

    @property
    def _alike(self) -> bool:
        return len({layer.units for layer in self._layers}) == 1

    @property
    def _layers(self) -> list[LSTM]:
        return [layer for layer in self if isinstance(layer, LSTM)]
