"""Multiplications and additions of matrix products and convolutions, counted as modules compute them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook


class Flops:
    """A count that grows while it watches."""

    total = 0


@contextmanager
def counted_flops() -> Iterator[Flops]:
    """Count what every module does inside the block, and what its backward pass will do.

    The gradient of the weights costs as much as the forward pass, and so does that of the inputs; each is counted where
    it is needed: a first layer's inputs are data, a frozen layer's weights stay.
    """
    count = Flops()

    def note(module: nn.Module, inputs: tuple[Tensor, ...], outputs: Any) -> None:
        forward = _forward_flops(module, outputs)
        if forward:
            weights = next(iter(module._parameters.values()))  # those of the call, where it was given others
            assert weights is not None
            passes = 1 + (torch.is_grad_enabled() and (weights.requires_grad + inputs[0].requires_grad))
            count.total += passes * forward

    handle = register_module_forward_hook(note)
    try:
        yield count
    finally:
        handle.remove()


def _forward_flops(module: nn.Module, outputs: Any) -> int:
    """Two for each multiplication and its addition; everything else is small beside them."""
    if isinstance(module, nn.LSTM):
        per_output = 4 * (module.input_size + module.hidden_size)  # four gates
        outputs, _ = outputs
    elif isinstance(module, nn.Linear):
        per_output = module.in_features
    elif isinstance(module, nn.Conv2d):
        per_output = module.weight[0].numel()
    else:
        return 0
    values: int = outputs.numel()
    return 2 * values * per_output
