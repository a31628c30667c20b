"""A convolution of each lane, and its gradients, as operations that a compiler sees as one.

The kernels of ``triton_conv`` compute them where those can be used, and a grouped convolution elsewhere.
"""

# mypy: allow-untyped-calls

import importlib
from collections.abc import Sequence
from functools import cache
from types import ModuleType

import torch
from torch import Tensor
from torch.nn.grad import conv2d_input, conv2d_weight

from superfed.core.lane_ops.conv_blocks import MOST_PLACES
from superfed.core.lane_ops.geometry import Geometry, Pair, pair, sides_of
from superfed.core.lane_ops.precision import EXACT, dot_precision


@torch.library.custom_op("superfed::conv_lanes", mutates_args=())
def conv_lanes(
    x: Tensor, w: Tensor, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int
) -> Tensor:
    """Each lane's convolution, ``[lanes, batch, outputs, rows, cols]``."""
    how = Geometry.of(stride, padding, dilation, groups)
    kernels = _kernels_for(x, w, sides_of(w), how)
    if groups == 1 and how.plain and _only_product(x, w, kernels):
        return torch.bmm(x.flatten(2), w.flatten(2).mT)[..., None, None]
    if kernels is not None:
        y: Tensor = kernels.convolve(x, w, how.stride, how.padding, how.dilation, _tensor_precision(x.dtype))
        return y
    lanes = len(x)
    y = torch.conv2d(_side_by_side(x), w.flatten(0, 1), None, stride, padding, dilation, lanes * groups)
    return _apart(y, lanes)


@torch.library.custom_op("superfed::conv_lanes_input", mutates_args=())
def conv_lanes_input(
    slope: Tensor,
    w: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """The gradient of each lane's input, which has ``size`` pixels."""
    how = Geometry.of(stride, padding, dilation, groups)
    kernels = _kernels_for(slope, w, sides_of(w), how)
    if groups == 1 and how.plain and _only_product(slope, w, kernels):
        return torch.bmm(slope.flatten(2), w.flatten(2))[..., None, None]
    if kernels is not None and not _grouped_is_faster(slope, w):
        dx: Tensor = kernels.input_gradient(
            slope, w, pair(size), how.stride, how.padding, how.dilation, _tensor_precision(slope.dtype)
        )
        return dx
    lanes, batch = slope.shape[:2]
    shape = (batch, lanes * w.shape[2] * groups, *size)
    dx = conv2d_input(shape, w.flatten(0, 1), _side_by_side(slope), stride, padding, dilation, lanes * groups)
    return _apart(dx, lanes)


@torch.library.custom_op("superfed::conv_lanes_weight", mutates_args=())
def conv_lanes_weight(
    slope: Tensor,
    x: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """The gradient of each lane's weights, whose kernels are of ``size``."""
    how = Geometry.of(stride, padding, dilation, groups)
    kernels = _kernels_for(slope, x, pair(size), how)
    if groups == 1 and how.plain and _only_product(slope, x, kernels):
        return torch.bmm(slope.flatten(2).mT, x.flatten(2))[..., None, None]
    if kernels is not None:
        dw: Tensor = kernels.weight_gradient(
            slope, x, pair(size), how.stride, how.padding, how.dilation, _tensor_precision(slope.dtype)
        )
        return dw
    lanes, outputs = len(x), slope.shape[2]
    shape = (lanes * outputs, x.shape[2] // groups, *size)
    dw = conv2d_weight(_side_by_side(x), shape, _side_by_side(slope), stride, padding, dilation, lanes * groups)
    return dw.reshape(lanes, outputs, *dw.shape[1:]).contiguous()


@conv_lanes.register_fake
def _(
    x: Tensor, w: Tensor, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int
) -> Tensor:
    how = Geometry.of(stride, padding, dilation, groups)
    return x.new_empty(*x.shape[:2], w.shape[1], *how.made(sides_of(x), sides_of(w)))


@conv_lanes_input.register_fake
def _(
    slope: Tensor,
    w: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    return slope.new_empty(*slope.shape[:2], w.shape[2] * groups, *size)


@conv_lanes_weight.register_fake
def _(
    slope: Tensor,
    x: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    return x.new_empty(len(x), slope.shape[2], x.shape[2] // groups, *size)


def _side_by_side(tensor: Tensor) -> Tensor:
    """The lanes' channels as those of one image."""
    return tensor.movedim(0, 1).flatten(1, 2)


def _apart(tensor: Tensor, lanes: int) -> Tensor:
    return tensor.reshape(len(tensor), lanes, -1, *tensor.shape[2:]).movedim(1, 0).contiguous()


def _only_product(a: Tensor, b: Tensor, kernels: ModuleType | None) -> bool:
    """Whether images and kernels of one pixel leave a product, which torch computes as well as we do unless it is to be
    exact."""
    single = all(t.shape[-2:] == (1, 1) for t in (a, b))
    return single and (kernels is None or a.dtype != torch.float32 or dot_precision() != EXACT)


def _tensor_precision(dtype: torch.dtype) -> str:
    """Numbers of lesser precision than float32 need no splitting."""
    return dot_precision() if dtype == torch.float32 else "tf32"


def _kernels_for(a: Tensor, b: Tensor, kernel: Pair, how: Geometry) -> ModuleType | None:
    """Our kernels, where they take such tensors; float64 is exact only in torch's own."""
    taken = (
        a.is_cuda
        and a.dtype == b.dtype
        and a.dtype in (torch.float32, torch.bfloat16)
        and how.groups == 1
        and all(stride == 1 or step == 1 for stride, step in zip(how.stride, how.dilation, strict=True))
        and kernel[0] * kernel[1] <= MOST_PLACES
        and 0 < len(a) < 2**16
        and all(0 < t.numel() // len(t) < 2**31 for t in (a, b))
    )
    return _kernels() if taken else None


def _grouped_is_faster(slope: Tensor, w: Tensor) -> bool:
    """Whether torch's input gradient is: for 5 × 5 kernels in bfloat16 (613 against 1108 µs for 200 lanes on an H200)."""
    return slope.dtype == torch.bfloat16 and w.shape[3] * w.shape[4] > 16


@cache
def _kernels() -> ModuleType | None:
    """Triton comes with torch where that is built for CUDA."""
    try:
        return importlib.import_module("superfed.core.lane_ops.triton_conv")
    except ImportError:
        return None
