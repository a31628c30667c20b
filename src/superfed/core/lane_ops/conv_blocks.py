"""How the products of convolutions are cut into blocks for a GPU, as times on an H200 have it."""

from typing import NamedTuple

import torch

from superfed.core.lane_ops.precision import EXACT

MOST_PLACES = 64
"""Of a kernel that ``triton_conv`` takes: 7 × 7 are taken, larger ones are rare."""

PROCESSORS = 132
"""Of an H200: fewer programs than these leave some of it idle."""


class Blocks(NamedTuple):
    """How a product is cut: the tile of one program, the block of one step of its sum, and how the compiler runs it."""

    rows: int
    columns: int
    depth: int
    warps: int = 4
    stages: int = 3


def mode_of(dtype: torch.dtype, precision: str) -> str:
    """What blocks are chosen by: ``float32``, ``tf32`` or ``bf16``."""
    return "bf16" if dtype == torch.bfloat16 else "float32" if precision == EXACT else "tf32"


def forward_blocks(products: int, pixels: int, outputs: int, channels: int, places: int, mode: str) -> Blocks:
    """For products of ``pixels × outputs`` results summed over channels and places; input gradients are such sums too.

    A step takes as many channels as there is room for with all their places, so that what is gathered lies at the same
    distances in every step. With few lanes tiles are smaller, so that there are programs for all processors. Otherwise
    the choices come from times on an H200, at 50 or 200 lanes, but for what is called a guess.
    """
    if mode != "bf16" and channels * places <= MOST_PLACES and pixels > 32:  # one step
        rows, columns = 64, _power_of_two(outputs, 16, 64)
        if products * tiles_of(pixels, rows) * tiles_of(outputs, columns) < PROCESSORS:
            columns = min(columns, 32)
        deep = channels * places > 32
        return Blocks(rows, columns, MOST_PLACES if deep else 32, stages=2 if deep else 3)
    return (_exact_blocks if mode == "float32" else _plain_blocks)(products, pixels, outputs, channels, places, mode)


def _exact_blocks(products: int, pixels: int, outputs: int, channels: int, places: int, mode: str) -> Blocks:
    """For float32, split into two numbers each.

    The times are from before every step had a sum of its own. In input gradients of kernels with several places 32 rows
    were 1.3 to 2.3 times as fast as the best of more, likely because Hopper's own instructions, which take 64 rows and
    groups of four warps, read the split numbers from shared memory and the older ones from registers. That forward
    products are alike is a guess (timed for images of one pixel), and so are 64 rows with two warps for few columns: by
    count of instructions they do better than the 32 × 32 that were timed. Hopper's were timed as the fastest forwards,
    though against nothing of 32 rows, for more than 16 places with many outputs, and for single places with more outputs
    than channels.
    """
    columns = _power_of_two(outputs, 16, 64)

    def programs(rows: int, columns: int) -> int:
        return products * tiles_of(pixels, rows) * tiles_of(outputs, columns)

    if places == 1 and pixels <= 16:  # a fully connected layer: it is all reading of weights
        deep = channels > 512
        return Blocks(16, columns, 64 if deep else 32, stages=3 if deep else 4)
    large = pixels >= 1024 and places <= 32 and programs(64, columns) >= PROCESSORS
    if large and (columns == 64 or (columns == 32 and channels <= 4)):
        return Blocks(64, columns, 32, stages=1)
    if places > 16 and columns == 64 and pixels > 32:
        rows = 128 if programs(128, columns) >= PROCESSORS else 64
        return Blocks(rows, columns, MOST_PLACES, warps=rows // 16, stages=2)
    if places == 1 and outputs > max(channels, 64) and pixels > 64 and programs(128, 128) >= PROCESSORS:
        return Blocks(128, 128, 32, warps=8)
    rows = _power_of_two(pixels, 16, 32)
    if programs(rows, columns) < PROCESSORS:
        columns = min(columns, 32)
    if places > 32:
        return Blocks(rows, columns, MOST_PLACES, stages=2)
    if columns <= 32 and programs(64, columns) >= 2 * PROCESSORS and pixels > 32:
        return Blocks(64, columns, 32, warps=2)
    return Blocks(rows, columns, 32, stages=3 if programs(rows, columns) >= PROCESSORS else 4)


def _plain_blocks(products: int, pixels: int, outputs: int, channels: int, places: int, mode: str) -> Blocks:
    """For numbers that tensor cores take as they are.

    128 columns with eight warps for many outputs; else a tile of ``128 × 64``, or of 64 rows where fewer of them are
    idle then. In tf32 a depth of 32 does best; in bf16 no other blocks were timed than those of the deepest steps.
    """
    columns = _power_of_two(outputs, 16, 64)
    least = max(_power_of_two(places, 16, MOST_PLACES), 32)

    def programs(rows: int, columns: int) -> int:
        return products * tiles_of(pixels, rows) * tiles_of(outputs, columns)

    if pixels > 64 and outputs > 64 and programs(128, 128) >= PROCESSORS * 3 // 4:
        return Blocks(128, 128, least, warps=8, stages=2 if least > 32 else 3)
    odd = pixels > 128 and tiles_of(pixels, 64) % 2 == 1
    rows = _power_of_two(pixels, 16, 64 if programs(128, columns) < PROCESSORS or (odd and mode == "tf32") else 128)
    if programs(rows, columns) < PROCESSORS:
        columns = min(columns, 32)
    depths = [least]
    if (rows == 128 and mode == "bf16") or (rows <= 32 and mode == "tf32" and programs(rows, columns) >= PROCESSORS):
        depths = [MOST_PLACES, least]
    depth = min(depths, key=lambda depth: tiles_of(channels, depth // places) * depth)
    stages = 2 if depth > 32 else 3 if rows > 32 else 4
    return Blocks(rows, columns, depth, warps=8 if depth > 32 and rows == 128 else 4, stages=stages)


def weight_blocks(lanes: int, pixels: int, outputs: int, depth: int, mode: str) -> Blocks:
    """For products of ``depth × outputs`` results summed over ``pixels``.

    Timed on an H200 for many lanes in float32 and tf32. That bf16 likes what tf32 does is a guess for up to 64 outputs,
    where only 64 rows were timed; so were they alone with few lanes.
    """
    step = _power_of_two(pixels, 16, 32)
    rows, columns = _power_of_two(depth, 16, 64), _power_of_two(outputs, 16, 64)
    if depth <= 64:
        return Blocks(rows, columns, step)
    if pixels <= 16 and mode == "float32" and depth >= 256:  # a fully connected layer: it is all writing
        return Blocks(256, columns, 16, warps=8, stages=2)
    row_tiles = lanes * tiles_of(depth, 128)
    wide = outputs > (128 if mode == "float32" else 64) and (pixels > 32 or mode == "bf16")
    if wide and row_tiles * tiles_of(outputs, 128) >= PROCESSORS:
        return Blocks(128, 128, step, warps=8)
    if row_tiles * tiles_of(outputs, columns) >= PROCESSORS:
        return Blocks(128, columns, step, warps=8)
    return Blocks(rows, columns, step)


def splits_of(programs: int, pixels: int, blocks: Blocks) -> int:
    """Into how many parts a sum over pixels is cut, so that few lanes keep a GPU busy; each has four blocks or more."""
    wanted = -(-2 * PROCESSORS // programs)
    return max(min(wanted, pixels // (4 * blocks.depth)), 1)


def tiles_of(number: int, size: int) -> int:
    """So many of this size hold so many numbers."""
    return -(-number // size)


def _power_of_two(number: int, least: int, most: int) -> int:
    return min(max(1 << (number - 1).bit_length(), least), most)
