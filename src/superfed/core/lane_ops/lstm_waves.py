"""Layers of LSTM cells on top of each other, computed as one layer that is as wide as all of them.

A layer needs what the one below it puts out at the same time, and itself at the time before. If each runs a time behind
the one below, all that is needed at a wave was put out at the wave before, and the whole is a layer with recurrent
weights

    [ recurrent₁                              ]
    [ inputs₂      recurrent₂                 ]
    [              inputs₃      recurrent₃    ]

over a few more times than there are. Small batches on a GPU wait for one step after another rather than compute, and
there are half as many steps for two layers.
"""

# mypy: allow-untyped-calls

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from superfed.core.lane_ops.lstm import recurrence

ROWS = 0
"""Batches of no more samples than this are computed so on a GPU; none are, until it is measured there."""
CLOSED = -1e4
"""Before a gate: nothing enters the cells, so that a layer whose time has not come stays at zero, without slopes."""


def stacked_recurrence(
    projected: Tensor, recurrent: Sequence[Tensor], inputs: Sequence[Tensor], biases: Sequence[Tensor | None]
) -> Tensor:
    """The outputs ``[time, batch, units]`` of the last of several layers of as many units each.

    ``projected`` are the inputs of the first layer times their weights with its bias, ``[time, batch, 4 * units]``. The
    layers' ``recurrent`` weights are ``[4 * units, units]`` each, and so are the ``inputs`` weights of all but the first,
    which come with their biases.
    """
    behind, units = len(recurrent) - 1, recurrent[0].shape[-1]
    outputs = recurrence(_waves(projected, behind, units, biases), _weights(recurrent, inputs))
    return outputs[behind:, :, behind * units :]


def _waves(projected: Tensor, behind: int, units: int, biases: Sequence[Tensor | None]) -> Tensor:
    """What enters all layers at each wave, ``[waves, batch, 4 * layers * units]``."""
    first = F.pad(projected.unflatten(-1, (4, units)), (0, 0, 0, 0, 0, 0, 0, behind))
    layers = [first]
    for number, bias in enumerate(biases, start=1):
        entering = projected.new_zeros(4 * units) if bias is None else bias
        held = F.pad(projected.new_full((number, 1, 1, units), CLOSED), (0, 0, 0, 3, 0, 0, 0, len(first) - number))
        layers.append((held + entering.view(4, units)).expand_as(first))
    return torch.stack(layers, dim=-2).flatten(-3)


def _weights(recurrent: Sequence[Tensor], inputs: Sequence[Tensor]) -> Tensor:
    """The recurrent weights of the whole, ``[4 * layers * units, layers * units]``."""
    units = recurrent[0].shape[-1]
    rows = []
    for number, own in enumerate(recurrent):
        known = own if number == 0 else torch.cat([inputs[number - 1], own], dim=-1)
        before = max(number - 1, 0) * units
        after = len(recurrent) * units - known.shape[-1] - before
        rows.append(F.pad(known, (before, after)).unflatten(0, (4, units)))
    return torch.stack(rows, dim=1).flatten(0, 2)
