"""Convolutions of many lanes on a GPU by the kernels beside this file: what they are given, and how many programs run."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from typing import NamedTuple

import torch
from torch import Tensor

from superfed.core.lane_ops import triton_conv_kernels as kernels
from superfed.core.lane_ops.conv_blocks import Blocks, forward_blocks, mode_of, splits_of, tiles_of, weight_blocks
from superfed.core.lane_ops.geometry import Geometry, Pair
from superfed.core.lane_ops.precision import EXACT


class Shape(NamedTuple):
    """The convolution of one image; what a kernel is compiled for."""

    channels: int
    height: int
    width: int
    outputs: int
    rows: int
    cols: int
    kernel_rows: int
    kernel_cols: int
    stride_rows: int
    stride_cols: int
    pad_rows: int
    pad_cols: int
    step_rows: int
    step_cols: int

    @classmethod
    def of(cls, image: tuple[int, ...], weight: tuple[int, ...], stride: Pair, padding: Pair, step: Pair) -> "Shape":
        channels, height, width = image
        outputs, _, *kernel = weight
        made = Geometry(stride, padding, step, groups=1).made((height, width), (kernel[0], kernel[1]))
        return cls(channels, height, width, outputs, *made, kernel[0], kernel[1], *stride, *padding, *step)

    @property
    def depth(self) -> int:
        """The weights of one output channel."""
        return self.channels * self.kernel_rows * self.kernel_cols


def _check_depth(blocks: Blocks, places: int) -> None:
    if blocks.depth < places:
        raise ValueError(f"a step of depth {blocks.depth} has no room for the {places} places of a kernel")


def convolve(
    x: Tensor, w: Tensor, stride: Pair, padding: Pair, step: Pair, precision: str, blocks: Blocks | None = None
) -> Tensor:
    """The convolutions of ``x [lanes, batch, channels, height, width]`` with each lane's own ``w``."""
    x, w = _dense_lanes(x), _dense_lanes(w)
    lanes, batch = x.shape[:2]
    shape = Shape.of(tuple(x.shape[2:]), tuple(w.shape[1:]), stride, padding, step)
    y = x.new_empty(lanes, batch, shape.outputs, shape.rows, shape.cols)
    pixels = batch * shape.rows * shape.cols
    places = shape.kernel_rows * shape.kernel_cols
    blocks = blocks or forward_blocks(lanes, pixels, shape.outputs, shape.channels, places, mode_of(x.dtype, precision))
    _check_depth(blocks, places)
    grid = (tiles_of(pixels, blocks.rows), tiles_of(shape.outputs, blocks.columns), lanes)
    with torch.cuda.device_of(x):
        kernels.convolve[grid](x, w, y, batch, x.stride(0), w.stride(0), *shape, **_compiled_for(blocks, precision))
    return y


def input_gradient(
    slope: Tensor,
    w: Tensor,
    size: Pair,
    stride: Pair,
    padding: Pair,
    step: Pair,
    precision: str,
    blocks: Blocks | None = None,
) -> Tensor:
    """The gradient of the inputs, of ``size`` pixels, from that of the outputs."""
    slope, w = _dense_lanes(slope), _dense_lanes(w)
    lanes, batch = slope.shape[:2]
    shape = Shape.of((w.shape[2], *size), tuple(w.shape[1:]), stride, padding, step)
    dx = slope.new_empty(lanes, batch, shape.channels, shape.height, shape.width)
    pixels = batch * tiles_of(shape.height, stride[0]) * tiles_of(shape.width, stride[1])
    places = tiles_of(shape.kernel_rows, stride[0]) * tiles_of(shape.kernel_cols, stride[1])
    phases = stride[0] * stride[1]
    mode = mode_of(slope.dtype, precision)
    blocks = blocks or forward_blocks(lanes * phases, pixels, shape.channels, shape.outputs, places, mode)
    _check_depth(blocks, places)
    tiles = phases * tiles_of(pixels, blocks.rows)
    grid = (tiles, tiles_of(shape.channels, blocks.columns), lanes)
    with torch.cuda.device_of(slope):
        kernels.input_gradient[grid](
            slope, w, dx, batch, slope.stride(0), w.stride(0), *shape, **_compiled_for(blocks, precision)
        )
    return dx


def weight_gradient(
    slope: Tensor,
    x: Tensor,
    size: Pair,
    stride: Pair,
    padding: Pair,
    step: Pair,
    precision: str,
    blocks: Blocks | None = None,
    splits: int | None = None,
) -> Tensor:
    """The gradient of the weights, of kernels of ``size``, from that of the outputs."""
    slope, x = _dense_lanes(slope), _dense_lanes(x)
    lanes, batch, outputs = slope.shape[:3]
    shape = Shape.of(tuple(x.shape[2:]), (outputs, x.shape[2], *size), stride, padding, step)
    pixels = batch * shape.rows * shape.cols
    blocks = blocks or weight_blocks(lanes, pixels, outputs, shape.depth, mode_of(x.dtype, precision))
    row_tiles, column_tiles = tiles_of(shape.depth, blocks.rows), tiles_of(outputs, blocks.columns)
    splits = splits or splits_of(lanes * row_tiles * column_tiles, pixels, blocks)
    share = tiles_of(tiles_of(pixels, splits), blocks.depth) * blocks.depth
    splits = tiles_of(pixels, share)
    parts = x.new_empty(splits, lanes, outputs, x.shape[2], *size, dtype=x.dtype if splits == 1 else torch.float32)
    grid = (row_tiles * column_tiles, splits, lanes)
    with torch.cuda.device_of(slope):
        kernels.weight_gradient[grid](
            slope,
            x,
            parts,
            batch,
            slope.stride(0),
            x.stride(0),
            *shape,
            **_compiled_for(blocks, precision),
            SHARE=share,
        )
    return parts[0] if splits == 1 else parts.sum(0).to(x.dtype)


def _dense_lanes(tensor: Tensor) -> Tensor:
    """Lanes may lie anywhere, as those of a stack of vectors do, or be one and the same; each is dense in itself."""
    return tensor if tensor[0].is_contiguous() else tensor.contiguous()


def _compiled_for(blocks: Blocks, precision: str) -> dict[str, object]:
    given: dict[str, object] = {
        "ROWS": blocks.rows,
        "COLUMNS": blocks.columns,
        "DEPTH": blocks.depth,
        "PRECISION": precision,
        "num_warps": blocks.warps,
        "num_stages": blocks.stages,
    }
    if precision == EXACT and blocks[:4] in ((32, 64, 32, 4), (32, 32, 32, 4)):
        given["maxnreg"] = 168  # three programs on a processor where there would be two; nothing is spilled
    return given
