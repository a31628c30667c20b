"""Two-dimensional convolutions for many lanes at once, where each lane has its own weights.

``vmap`` would make one grouped convolution of them, which is slow on a GPU. Here they are one operation of all lanes,
computed by the kernels of ``triton_conv`` where those can be used and by a grouped convolution elsewhere. A convolution,
the gradient of its input and that of its weight are each linear in two tensors and are the derivatives of one another:
the three functions below are all that derivatives of any order need.
"""

# mypy: allow-untyped-calls

import importlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn import functional as F
from torch.nn.grad import conv2d_input, conv2d_weight

from superfed.core.lane_ops.precision import EXACT, dot_precision

Pair = tuple[int, int]
Numbers = int | Sequence[int]

MOST_PLACES = 64
"""Of a kernel that ``triton_conv`` takes: 7 × 7 are taken, larger ones are rare."""


def with_lane_convolutions(module: nn.Module) -> None:
    """Let the plain convolutions of ``module`` compute as below; their parameters keep their names."""
    for layer in module.modules():
        if type(layer) is nn.Conv2d and layer.padding_mode == "zeros" and not isinstance(layer.padding, str):
            layer.__class__ = LaneConv2d


class LaneConv2d(nn.Conv2d):
    """``nn.Conv2d`` that may be mapped over lanes at little cost."""

    def forward(self, input: Tensor) -> Tensor:
        assert not isinstance(self.padding, str)
        return conv2d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


@dataclass(frozen=True)
class Geometry:
    """How a kernel moves over an image."""

    stride: Pair
    padding: Pair
    dilation: Pair
    groups: int
    depthwise: bool = False
    """Whether each channel has one kernel of its own."""

    @classmethod
    def of(cls, stride: Numbers, padding: Numbers, dilation: Numbers, groups: int) -> "Geometry":
        return cls(_pair(stride), _pair(padding), _pair(dilation), groups)

    @property
    def plain(self) -> bool:
        """Whether every pixel is met once and nothing beside them."""
        return self.stride == (1, 1) and self.padding == (0, 0)

    def made(self, sides: Pair, kernel: Pair) -> Pair:
        """The sides of the output."""
        spans = [self.dilation[i] * (kernel[i] - 1) + 1 for i in range(2)]
        rows, cols = ((sides[i] + 2 * self.padding[i] - spans[i]) // self.stride[i] + 1 for i in range(2))
        return rows, cols


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Numbers = 1,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    groups: int = 1,
) -> Tensor:
    """``torch.conv2d`` of one lane, to be mapped over many."""
    if x.dim() == 3:
        return conv2d(x[None], weight, bias, stride, padding, dilation, groups)[0]
    how = Geometry.of(stride, padding, dilation, groups)
    if groups > 1 and groups == x.shape[1] == weight.shape[0]:
        how = replace(how, depthwise=True)
    y: Tensor = _Convolution.apply(x, weight, how)
    # Added outside, so that a compiler may join it to what comes after.
    return y if bias is None else y + bias[:, None, None]


def _pair(value: Numbers) -> Pair:
    rows, cols = (value, value) if isinstance(value, int) else value
    return rows, cols


class _Convolution(Function):
    """Of ``x [batch, …]`` and ``w``, or, with one dimension more in front of both, of all lanes."""

    @staticmethod
    def forward(x: Tensor, w: Tensor, how: Geometry) -> Tensor:
        y: Tensor
        if how.depthwise:
            y = _depthwise(x, w, how)
        elif x.dim() == 4:
            y = torch.conv2d(x, w, None, how.stride, how.padding, how.dilation, how.groups)
        else:
            y = conv_lanes(x, w, how.stride, how.padding, how.dilation, how.groups)
        return y

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, w, ctx.how = inputs
        ctx.save_for_backward(x, w)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        x, w = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        dx = _InputGradient.apply(slope, w, _sides(x), ctx.how) if wanted[0] else None
        dw = _WeightGradient.apply(slope, x, _sides(w), ctx.how) if wanted[1] else None
        return dx, dw, None

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], *arguments: Any) -> tuple[Tensor, int]:
        return _mapped(_Convolution, info.batch_size, dims, *arguments)


class _InputGradient(Function):
    @staticmethod
    def forward(slope: Tensor, w: Tensor, size: Pair, how: Geometry) -> Tensor:
        dx: Tensor
        if how.depthwise:
            dx = _depthwise_input(slope, w, size, how)
        elif slope.dim() == 4:
            shape = (len(slope), w.shape[1] * how.groups, *size)
            dx = conv2d_input(shape, w, slope, how.stride, how.padding, how.dilation, how.groups)
        else:
            dx = conv_lanes_input(slope, w, size, how.stride, how.padding, how.dilation, how.groups)
        return dx

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        slope, w, _, ctx.how = inputs
        ctx.save_for_backward(slope, w)

    @staticmethod
    def backward(ctx: Any, turned: Tensor) -> tuple[Tensor | None, ...]:
        slope, w = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        of_slope = _Convolution.apply(turned, w, ctx.how) if wanted[0] else None
        of_w = _WeightGradient.apply(slope, turned, _sides(w), ctx.how) if wanted[1] else None
        return of_slope, of_w, None, None

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], *arguments: Any) -> tuple[Tensor, int]:
        return _mapped(_InputGradient, info.batch_size, dims, *arguments)


class _WeightGradient(Function):
    @staticmethod
    def forward(slope: Tensor, x: Tensor, size: Pair, how: Geometry) -> Tensor:
        dw: Tensor
        if how.depthwise:
            dw = _depthwise_weight(slope, x, size, how)
        elif slope.dim() == 4:
            shape = (slope.shape[1], x.shape[1] // how.groups, *size)
            dw = conv2d_weight(x, shape, slope, how.stride, how.padding, how.dilation, how.groups)
        else:
            dw = conv_lanes_weight(slope, x, size, how.stride, how.padding, how.dilation, how.groups)
        return dw

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        slope, x, _, ctx.how = inputs
        ctx.save_for_backward(slope, x)

    @staticmethod
    def backward(ctx: Any, turned: Tensor) -> tuple[Tensor | None, ...]:
        slope, x = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        of_slope = _Convolution.apply(x, turned, ctx.how) if wanted[0] else None
        of_x = _InputGradient.apply(slope, turned, _sides(x), ctx.how) if wanted[1] else None
        return of_slope, of_x, None, None

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], *arguments: Any) -> tuple[Tensor, int]:
        return _mapped(_WeightGradient, info.batch_size, dims, *arguments)


def _sides(tensor: Tensor) -> Pair:
    return tensor.shape[-2], tensor.shape[-1]


def _mapped(
    function: type[Function], lanes: int, dims: tuple[Any, ...], a: Tensor, b: Tensor, *rest: Any
) -> tuple[Tensor, int]:
    """The function of all lanes; lanes of lanes are so many more lanes."""
    a, b = (
        t.expand(lanes, *t.shape) if dim is None else t.movedim(dim, 0) for t, dim in zip((a, b), dims[:2], strict=True)
    )
    if a.dim() == 5:
        return function.apply(a, b, *rest), 0
    inner: Tensor = function.apply(a.flatten(0, 1), b.flatten(0, 1), *rest)
    return inner.reshape(lanes, -1, *inner.shape[1:]), 0


# One kernel per channel is too little work for a matrix product. Written as sums over the places of the kernel, in which
# every result gathers what it needs, each of the three is one pass for a compiler.


def _depthwise(x: Tensor, w: Tensor, how: Geometry) -> Tensor:
    return _sum(seen * factor for seen, factor in zip(_seen(x, _sides(w), how), _factors(w), strict=True))


def _depthwise_input(slope: Tensor, w: Tensor, size: Pair, how: Geometry) -> Tensor:
    """A sum like the one forwards, of slopes as far apart as the stride, and over the kernel's places backwards."""
    rows, cols = (side * stride for side, stride in zip(_sides(slope), how.stride, strict=True))
    apart = F.pad(slope[..., :, None, :, None], (0, how.stride[1] - 1, 0, 0, 0, how.stride[0] - 1))
    apart = apart.reshape(*slope.shape[:-2], rows, cols)
    reach = [step * (side - 1) for step, side in zip(how.dilation, _sides(w), strict=True)]
    top, left = (far - padding for far, padding in zip(reach, how.padding, strict=True))
    apart = F.pad(apart, (left, size[1] + reach[1] - left - cols, top, size[0] + reach[0] - top - rows))
    backwards = Geometry((1, 1), (0, 0), how.dilation, how.groups, depthwise=True)
    factors = _factors(w)[::-1]
    return _sum(seen * factor for seen, factor in zip(_seen(apart, _sides(w), backwards), factors, strict=True))


def _depthwise_weight(slope: Tensor, x: Tensor, size: Pair, how: Geometry) -> Tensor:
    sums = [(slope * seen).sum((-4, -2, -1)) for seen in _seen(x, size, how)]
    dw = torch.stack(sums, dim=-1)
    return dw.reshape(*dw.shape[:-1], 1, *size)


def _seen(x: Tensor, kernel: Pair, how: Geometry) -> Iterator[Tensor]:
    """For each place of the kernel, the pixels that it meets."""
    rows, cols = how.made(_sides(x), kernel)
    padded = F.pad(x, (how.padding[1], how.padding[1], how.padding[0], how.padding[0]))
    for top in range(0, kernel[0] * how.dilation[0], how.dilation[0]):
        for left in range(0, kernel[1] * how.dilation[1], how.dilation[1]):
            bottom, right = top + (rows - 1) * how.stride[0] + 1, left + (cols - 1) * how.stride[1] + 1
            yield padded[..., top : bottom : how.stride[0], left : right : how.stride[1]]


def _factors(w: Tensor) -> tuple[Tensor, ...]:
    """For each place of the kernel, the weights of all channels."""
    return w.flatten(-3)[..., None, :, None, None, :].unbind(-1)


def _sum(terms: Iterable[Tensor]) -> Tensor:
    return reduce(torch.add, terms)


@torch.library.custom_op("superfed::conv_lanes", mutates_args=())
def conv_lanes(
    x: Tensor, w: Tensor, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int
) -> Tensor:
    """Each lane's convolution, ``[lanes, batch, outputs, rows, cols]``."""
    how = Geometry.of(stride, padding, dilation, groups)
    kernels = _kernels_for(x, w, _sides(w), how)
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
    kernels = _kernels_for(slope, w, _sides(w), how)
    if groups == 1 and how.plain and _only_product(slope, w, kernels):
        return torch.bmm(slope.flatten(2), w.flatten(2))[..., None, None]
    if kernels is not None and not _grouped_is_faster(slope, w):
        dx: Tensor = kernels.input_gradient(
            slope, w, _pair(size), how.stride, how.padding, how.dilation, _tensor_precision(slope.dtype)
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
    kernels = _kernels_for(slope, x, _pair(size), how)
    if groups == 1 and how.plain and _only_product(slope, x, kernels):
        return torch.bmm(slope.flatten(2).mT, x.flatten(2))[..., None, None]
    if kernels is not None:
        dw: Tensor = kernels.weight_gradient(
            slope, x, _pair(size), how.stride, how.padding, how.dilation, _tensor_precision(slope.dtype)
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
    return x.new_empty(*x.shape[:2], w.shape[1], *how.made(_sides(x), _sides(w)))


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
