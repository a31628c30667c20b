"""Convolutions in which each channel has one kernel of its own, and their gradients.

One kernel per channel is too little work for a matrix product. Written as sums over the places of the kernel, in which
every result gathers what it needs, each of the three is one pass for a compiler.
"""

from collections.abc import Iterable, Iterator
from functools import reduce

import torch
from torch import Tensor
from torch.nn import functional as F

from superfed.core.lane_ops.geometry import Geometry, Pair, sides_of


def convolve(x: Tensor, w: Tensor, how: Geometry) -> Tensor:
    return _sum(seen * factor for seen, factor in zip(_seen(x, sides_of(w), how), _factors(w), strict=True))


def input_gradient(slope: Tensor, w: Tensor, size: Pair, how: Geometry) -> Tensor:
    """A sum like the one forwards, of slopes as far apart as the stride, and over the kernel's places backwards."""
    rows, cols = (side * stride for side, stride in zip(sides_of(slope), how.stride, strict=True))
    apart = F.pad(slope[..., :, None, :, None], (0, how.stride[1] - 1, 0, 0, 0, how.stride[0] - 1))
    apart = apart.reshape(*slope.shape[:-2], rows, cols)
    reach = [step * (side - 1) for step, side in zip(how.dilation, sides_of(w), strict=True)]
    top, left = (far - padding for far, padding in zip(reach, how.padding, strict=True))
    apart = F.pad(apart, (left, size[1] + reach[1] - left - cols, top, size[0] + reach[0] - top - rows))
    backwards = Geometry((1, 1), (0, 0), how.dilation, how.groups, depthwise=True)
    factors = _factors(w)[::-1]
    return _sum(seen * factor for seen, factor in zip(_seen(apart, sides_of(w), backwards), factors, strict=True))


def weight_gradient(slope: Tensor, x: Tensor, size: Pair, how: Geometry) -> Tensor:
    sums = [(slope * seen).sum((-4, -2, -1)) for seen in _seen(x, size, how)]
    dw = torch.stack(sums, dim=-1)
    return dw.reshape(*dw.shape[:-1], 1, *size)


def _seen(x: Tensor, kernel: Pair, how: Geometry) -> Iterator[Tensor]:
    """For each place of the kernel, the pixels that it meets."""
    rows, cols = how.made(sides_of(x), kernel)
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
