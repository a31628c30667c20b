"""Matrix products of many lanes at once, and fully connected layers made of them.

Mini-batches are small, so a product reads far more weights than it computes with: torch's single-precision kernels take
two to four times as long as the reading does. In full precision a kernel of our own is used on a GPU; in others, and
elsewhere, torch's.
"""

# mypy: allow-untyped-calls

import importlib
from functools import cache
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function

from superfed.core.lane_ops.precision import EXACT, dot_precision


def with_lane_products(module: nn.Module) -> None:
    """Let the plain fully connected layers of ``module`` compute as below; their parameters keep their names."""
    for layer in module.modules():
        if type(layer) is nn.Linear:
            layer.__class__ = LaneLinear


class LaneLinear(nn.Linear):
    """``nn.Linear`` that may be mapped over lanes at little cost."""

    def forward(self, input: Tensor) -> Tensor:
        return linear(input, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``torch.nn.functional.linear`` of one lane, to be mapped over many."""
    y: Tensor = _Product.apply(x.reshape(-1, x.shape[-1]), weight.mT).reshape(*x.shape[:-1], weight.shape[0])
    # Added outside, so that a compiler may join it to what comes after.
    return y if bias is None else y + bias


class _Product(Function):
    """Of two matrices or, with one dimension more in front of both, of those of all lanes."""

    @staticmethod
    def forward(a: Tensor, b: Tensor) -> Tensor:
        return torch.mm(a, b) if a.dim() == 2 else bmm_lanes(a, b)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, Tensor | None]:
        a, b = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        return (
            _Product.apply(slope, b.mT) if wanted[0] else None,
            _Product.apply(a.mT, slope) if wanted[1] else None,
        )

    @staticmethod
    def vmap(info: Any, dims: tuple[int | None, int | None], a: Tensor, b: Tensor) -> tuple[Tensor, int]:
        lanes = info.batch_size
        a, b = (
            t.expand(lanes, *t.shape) if dim is None else t.movedim(dim, 0) for t, dim in zip((a, b), dims, strict=True)
        )
        if a.dim() == 3:
            return _Product.apply(a, b), 0
        inner: Tensor = _Product.apply(a.flatten(0, 1), b.flatten(0, 1))  # lanes of lanes are so many more lanes
        return inner.reshape(lanes, -1, *inner.shape[1:]), 0


@torch.library.custom_op("superfed::bmm_lanes", mutates_args=())
def bmm_lanes(a: Tensor, b: Tensor) -> Tensor:
    """Each lane's product, ``[lanes, rows, columns]``."""
    return bmm(a, b)


@bmm_lanes.register_fake
def _(a: Tensor, b: Tensor) -> Tensor:
    return a.new_empty(a.shape[0], a.shape[1], b.shape[2])


def bmm(a: Tensor, b: Tensor) -> Tensor:
    """``torch.bmm``, by the quickest way there is."""
    if a.is_cuda and a.dtype == torch.float32 and dot_precision() == EXACT:
        kernels = _kernels()
        if kernels is not None:
            c: Tensor = kernels.bmm(a, b)
            return c
    return torch.bmm(a, b)


@cache
def _kernels() -> ModuleType | None:
    try:
        return importlib.import_module("superfed.core.lane_ops.triton_bmm")
    except ImportError:
        return None
