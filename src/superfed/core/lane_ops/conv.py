"""Two-dimensional convolutions for many lanes at once, where each lane has its own weights.

``vmap`` would make one grouped convolution of them, which is slow on a GPU. Here they are one operation of all lanes,
computed by the kernels of ``triton_conv`` where those can be used and by a grouped convolution elsewhere. A convolution,
the gradient of its input and that of its weight are each linear in two tensors and are the derivatives of one another:
the three functions below are all that derivatives of any order need.
"""

# mypy: allow-untyped-calls

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn.grad import conv2d_input, conv2d_weight

from superfed.core.lane_ops import depthwise
from superfed.core.lane_ops.conv_lanes import conv_lanes, conv_lanes_input, conv_lanes_weight
from superfed.core.lane_ops.geometry import Geometry, Numbers, Pair, sides_of


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


class _Convolution(Function):
    """Of ``x [batch, …]`` and ``w``, or, with one dimension more in front of both, of all lanes."""

    @staticmethod
    def forward(x: Tensor, w: Tensor, how: Geometry) -> Tensor:
        y: Tensor
        if how.depthwise:
            y = depthwise.convolve(x, w, how)
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
        dx = _InputGradient.apply(slope, w, sides_of(x), ctx.how) if wanted[0] else None
        dw = _WeightGradient.apply(slope, x, sides_of(w), ctx.how) if wanted[1] else None
        return dx, dw, None

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], *arguments: Any) -> tuple[Tensor, int]:
        return _mapped(_Convolution, info.batch_size, dims, *arguments)


class _InputGradient(Function):
    @staticmethod
    def forward(slope: Tensor, w: Tensor, size: Pair, how: Geometry) -> Tensor:
        dx: Tensor
        if how.depthwise:
            dx = depthwise.input_gradient(slope, w, size, how)
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
        of_w = _WeightGradient.apply(slope, turned, sides_of(w), ctx.how) if wanted[1] else None
        return of_slope, of_w, None, None

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], *arguments: Any) -> tuple[Tensor, int]:
        return _mapped(_InputGradient, info.batch_size, dims, *arguments)


class _WeightGradient(Function):
    @staticmethod
    def forward(slope: Tensor, x: Tensor, size: Pair, how: Geometry) -> Tensor:
        dw: Tensor
        if how.depthwise:
            dw = depthwise.weight_gradient(slope, x, size, how)
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
        of_x = _InputGradient.apply(slope, turned, sides_of(x), ctx.how) if wanted[1] else None
        return of_slope, of_x, None, None

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], *arguments: Any) -> tuple[Tensor, int]:
        return _mapped(_WeightGradient, info.batch_size, dims, *arguments)


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
