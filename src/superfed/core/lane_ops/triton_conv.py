"""Convolutions of many lanes as matrix products on a GPU: the patches are gathered while the product is computed.

For every lane a tile of ``rows × columns`` results is summed over blocks of ``depth``. The gathered operand has the rows,
since the tensor cores want 64 of those and are content with few columns. In all three products a gathered tile is read
along the pixels of an image and a tile of weights along their own order, so that neighbouring threads read neighbouring
numbers. Nothing is added by atomics and nothing is chosen by timing: the same shapes give the same numbers.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from typing import NamedTuple

import torch
from torch import Tensor

from superfed.core.lane_ops.conv import MOST_PLACES, Pair
from superfed.core.lane_ops.precision import EXACT

try:  # importing the package does not import this file: only who has a GPU needs it
    import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError as missing:
    raise ImportError("Triton comes with torch for CUDA: reinstall that") from missing

PROCESSORS = 132
"""Of an H200: fewer programs than these leave some of it idle."""


class Blocks(NamedTuple):
    """How a product is cut: the tile of one program, the block of one step of its sum, and how the compiler runs it."""

    rows: int
    columns: int
    depth: int
    warps: int = 4
    stages: int = 3


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
        spans = [step[i] * (kernel[i] - 1) + 1 for i in range(2)]
        rows = (height + 2 * padding[0] - spans[0]) // stride[0] + 1
        cols = (width + 2 * padding[1] - spans[1]) // stride[1] + 1
        return cls(channels, height, width, outputs, rows, cols, kernel[0], kernel[1], *stride, *padding, *step)

    @property
    def depth(self) -> int:
        """The weights of one output channel."""
        return self.channels * self.kernel_rows * self.kernel_cols


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
        if products * triton.cdiv(pixels, rows) * triton.cdiv(outputs, columns) < PROCESSORS:
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
        return int(products * triton.cdiv(pixels, rows) * triton.cdiv(outputs, columns))

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
        return int(products * triton.cdiv(pixels, rows) * triton.cdiv(outputs, columns))

    if pixels > 64 and outputs > 64 and programs(128, 128) >= PROCESSORS * 3 // 4:
        return Blocks(128, 128, least, warps=8, stages=2 if least > 32 else 3)
    odd = pixels > 128 and triton.cdiv(pixels, 64) % 2 == 1
    rows = _power_of_two(pixels, 16, 64 if programs(128, columns) < PROCESSORS or (odd and mode == "tf32") else 128)
    if programs(rows, columns) < PROCESSORS:
        columns = min(columns, 32)
    depths = [least]
    if (rows == 128 and mode == "bf16") or (rows <= 32 and mode == "tf32" and programs(rows, columns) >= PROCESSORS):
        depths = [MOST_PLACES, least]
    depth = min(depths, key=lambda depth: triton.cdiv(channels, depth // places) * depth)
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
    row_tiles = lanes * triton.cdiv(depth, 128)
    wide = outputs > (128 if mode == "float32" else 64) and (pixels > 32 or mode == "bf16")
    if wide and row_tiles * triton.cdiv(outputs, 128) >= PROCESSORS:
        return Blocks(128, 128, step, warps=8)
    if row_tiles * triton.cdiv(outputs, columns) >= PROCESSORS:
        return Blocks(128, columns, step, warps=8)
    return Blocks(rows, columns, step)


def splits_of(programs: int, pixels: int, blocks: Blocks) -> int:
    """Into how many parts a sum over pixels is cut, so that few lanes keep a GPU busy; each has four blocks or more."""
    wanted = -(-2 * PROCESSORS // programs)
    return max(min(wanted, pixels // (4 * blocks.depth)), 1)


def _check_depth(blocks: Blocks, places: int) -> None:
    if blocks.depth < places:
        raise ValueError(f"a step of depth {blocks.depth} has no room for the {places} places of a kernel")


def _power_of_two(number: int, least: int, most: int) -> int:
    return min(max(1 << (number - 1).bit_length(), least), most)


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
    grid = (triton.cdiv(pixels, blocks.rows), triton.cdiv(shape.outputs, blocks.columns), lanes)
    with torch.cuda.device_of(x):
        _convolve[grid](x, w, y, batch, x.stride(0), w.stride(0), *shape, **_compiled_for(blocks, precision))
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
    pixels = batch * triton.cdiv(shape.height, stride[0]) * triton.cdiv(shape.width, stride[1])
    places = triton.cdiv(shape.kernel_rows, stride[0]) * triton.cdiv(shape.kernel_cols, stride[1])
    phases = stride[0] * stride[1]
    mode = mode_of(slope.dtype, precision)
    blocks = blocks or forward_blocks(lanes * phases, pixels, shape.channels, shape.outputs, places, mode)
    _check_depth(blocks, places)
    tiles = phases * triton.cdiv(pixels, blocks.rows)
    grid = (tiles, triton.cdiv(shape.channels, blocks.columns), lanes)
    with torch.cuda.device_of(slope):
        _input_gradient[grid](
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
    row_tiles, column_tiles = triton.cdiv(shape.depth, blocks.rows), triton.cdiv(outputs, blocks.columns)
    splits = splits or splits_of(lanes * row_tiles * column_tiles, pixels, blocks)
    share = triton.cdiv(triton.cdiv(pixels, splits), blocks.depth) * blocks.depth
    splits = triton.cdiv(pixels, share)
    parts = x.new_empty(splits, lanes, outputs, x.shape[2], *size, dtype=x.dtype if splits == 1 else torch.float32)
    grid = (row_tiles * column_tiles, splits, lanes)
    with torch.cuda.device_of(slope):
        _weight_gradient[grid](
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


@triton.jit
def _add_product(a, b, total, PRECISION: tl.constexpr) -> tl.tensor:
    """Triton's own ``tf32x3`` takes care of infinities, with nearly twice the instructions; here they become NaN.

    Tensor cores round the sums they keep towards zero, which a long sum shows. An exact product is therefore one of its
    own in every step, begun at zero, and added to the total as float32 adds. (Triton turns such an addition back into
    one of the tensor cores only where the last of the products began at zero.)
    """
    if PRECISION == "tf32x3":
        a_head = _head(a)
        b_head = _head(b)
        part = tl.dot(a - a_head, b_head, input_precision="tf32")
        part = tl.dot(a_head, b - b_head, part, input_precision="tf32")
        part = tl.dot(a_head, b_head, part, input_precision="tf32")
        total += part
    else:
        total = tl.dot(a, b, total, input_precision="tf32")
    return total


@triton.jit
def _head(number) -> tl.tensor:
    """The part of a float32 that TF32 can hold: all but the last 13 bits."""
    return (number.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)


@triton.jit
def _convolve(
    x,
    w,
    y,
    batch,
    x_lane,
    w_lane,
    CHANNELS: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    OUTPUTS: tl.constexpr,
    OUT_ROWS: tl.constexpr,
    OUT_COLS: tl.constexpr,
    KERNEL_ROWS: tl.constexpr,
    KERNEL_COLS: tl.constexpr,
    STRIDE_ROWS: tl.constexpr,
    STRIDE_COLS: tl.constexpr,
    PAD_ROWS: tl.constexpr,
    PAD_COLS: tl.constexpr,
    STEP_ROWS: tl.constexpr,
    STEP_COLS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
) -> None:
    """Rows: output pixels. Columns: output channels. Depth: a kernel's weights in their own order.

    A step takes a group of whole channels, so that which pixels are met and where they lie is worked out once, before
    the sum; from step to step only the first channel moves on.
    """
    PIXELS: tl.constexpr = OUT_ROWS * OUT_COLS
    PLACES: tl.constexpr = KERNEL_ROWS * KERNEL_COLS
    TERMS: tl.constexpr = CHANNELS * PLACES
    GROUP: tl.constexpr = DEPTH // PLACES
    lane = tl.program_id(2).to(tl.int64)
    x += lane * x_lane
    w += lane * w_lane
    y += lane * (batch * OUTPUTS * PIXELS)

    pixel = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    output = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    image = pixel // PIXELS
    place = pixel % PIXELS
    top = (place // OUT_COLS) * STRIDE_ROWS - PAD_ROWS
    left = (place % OUT_COLS) * STRIDE_COLS - PAD_COLS
    corner = image * (CHANNELS * HEIGHT * WIDTH) + top * WIDTH + left
    real = pixel < batch * PIXELS

    term = tl.arange(0, DEPTH)
    within = term // PLACES
    down = (term // KERNEL_COLS) % KERNEL_ROWS * STEP_ROWS
    right = term % KERNEL_COLS * STEP_COLS
    row = top[None, :] + down[:, None]
    col = left[None, :] + right[:, None]
    inside = real[None, :] & (within < GROUP)[:, None]
    if PAD_ROWS > 0:
        inside = inside & (row >= 0) & (row < HEIGHT)
    if PAD_COLS > 0:
        inside = inside & (col >= 0) & (col < WIDTH)
    source = corner[None, :] + (within * (HEIGHT * WIDTH) + down * WIDTH + right)[:, None]
    wanted = (output < OUTPUTS)[:, None] & (within < GROUP)[None, :]
    own = output[:, None] * TERMS + term[None, :]

    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for channel in range(0, CHANNELS, GROUP):
        exists = within < CHANNELS - channel
        patches = tl.load(x + channel * (HEIGHT * WIDTH) + source, mask=inside & exists[:, None], other=0.0)
        weights = tl.load(w + channel * PLACES + own, mask=wanted & exists[None, :], other=0.0)
        total = _add_product(tl.trans(patches), tl.trans(weights), total, PRECISION)

    target = (image * (OUTPUTS * PIXELS) + place)[:, None] + (output * PIXELS)[None, :]
    tl.store(y + target, total.to(y.dtype.element_ty), mask=real[:, None] & (output < OUTPUTS)[None, :])


@triton.jit
def _input_gradient(
    slope,
    w,
    dx,
    batch,
    slope_lane,
    w_lane,
    CHANNELS: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    OUTPUTS: tl.constexpr,
    OUT_ROWS: tl.constexpr,
    OUT_COLS: tl.constexpr,
    KERNEL_ROWS: tl.constexpr,
    KERNEL_COLS: tl.constexpr,
    STRIDE_ROWS: tl.constexpr,
    STRIDE_COLS: tl.constexpr,
    PAD_ROWS: tl.constexpr,
    PAD_COLS: tl.constexpr,
    STEP_ROWS: tl.constexpr,
    STEP_COLS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
) -> None:
    """Rows: input pixels. Columns: input channels. Depth: output channels and places of a kernel.

    With a stride, input pixels of one phase (their row and column modulo the stride) have met the same places of the
    kernel and no others, so that each phase is a smaller product of its own. Either the stride or the dilation is 1.
    """
    PHASE_ROWS: tl.constexpr = (HEIGHT + STRIDE_ROWS - 1) // STRIDE_ROWS
    PHASE_COLS: tl.constexpr = (WIDTH + STRIDE_COLS - 1) // STRIDE_COLS
    PIXELS: tl.constexpr = PHASE_ROWS * PHASE_COLS
    MET_ROWS: tl.constexpr = (KERNEL_ROWS + STRIDE_ROWS - 1) // STRIDE_ROWS
    MET_COLS: tl.constexpr = (KERNEL_COLS + STRIDE_COLS - 1) // STRIDE_COLS
    PLACES: tl.constexpr = KERNEL_ROWS * KERNEL_COLS
    MET: tl.constexpr = MET_ROWS * MET_COLS
    GROUP: tl.constexpr = DEPTH // MET
    lane = tl.program_id(2).to(tl.int64)
    slope += lane * slope_lane
    w += lane * w_lane
    dx += lane * (batch * CHANNELS * HEIGHT * WIDTH)

    tiles = tl.cdiv(batch * PIXELS, ROWS)
    phase = tl.program_id(0) // tiles
    phase_row = phase // STRIDE_COLS
    phase_col = phase % STRIDE_COLS
    first_row = (phase_row + PAD_ROWS) % STRIDE_ROWS
    first_col = (phase_col + PAD_COLS) % STRIDE_COLS

    pixel = (tl.program_id(0) % tiles) * ROWS + tl.arange(0, ROWS)
    channel = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    image = pixel // PIXELS
    place = pixel % PIXELS
    bottom = place // PHASE_COLS + (phase_row + PAD_ROWS) // STRIDE_ROWS
    rightmost = place % PHASE_COLS + (phase_col + PAD_COLS) // STRIDE_COLS
    corner = image * (OUTPUTS * OUT_ROWS * OUT_COLS) + bottom * OUT_COLS + rightmost
    real = pixel < batch * PIXELS

    term = tl.arange(0, DEPTH)
    within = term // MET
    met_row = (term // MET_COLS) % MET_ROWS
    met_col = term % MET_COLS
    kernel_row = first_row + met_row * STRIDE_ROWS
    kernel_col = first_col + met_col * STRIDE_COLS
    known = (within < GROUP) & (kernel_row < KERNEL_ROWS) & (kernel_col < KERNEL_COLS)
    row = bottom[None, :] - (met_row * STEP_ROWS)[:, None]
    col = rightmost[None, :] - (met_col * STEP_COLS)[:, None]
    inside = real[None, :] & known[:, None]
    inside = inside & (row >= 0) & (row < OUT_ROWS) & (col >= 0) & (col < OUT_COLS)
    away = within * (OUT_ROWS * OUT_COLS) - met_row * (STEP_ROWS * OUT_COLS) - met_col * STEP_COLS
    source = corner[None, :] + away[:, None]
    wanted = (channel < CHANNELS)[:, None] & known[None, :]
    own = within * (CHANNELS * PLACES) + kernel_row * KERNEL_COLS + kernel_col
    own = (channel * PLACES)[:, None] + own[None, :]

    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    if (first_row < KERNEL_ROWS) & (first_col < KERNEL_COLS):
        for output in range(0, OUTPUTS, GROUP):
            exists = within < OUTPUTS - output
            slopes = tl.load(slope + output * (OUT_ROWS * OUT_COLS) + source, mask=inside & exists[:, None], other=0.0)
            weights = tl.load(w + output * (CHANNELS * PLACES) + own, mask=wanted & exists[None, :], other=0.0)
            total = _add_product(tl.trans(slopes), tl.trans(weights), total, PRECISION)

    row = (place // PHASE_COLS) * STRIDE_ROWS + phase_row
    col = (place % PHASE_COLS) * STRIDE_COLS + phase_col
    real = real & (row < HEIGHT) & (col < WIDTH)
    target = image * (CHANNELS * HEIGHT * WIDTH) + row * WIDTH + col
    target = target[:, None] + (channel * (HEIGHT * WIDTH))[None, :]
    tl.store(dx + target, total.to(dx.dtype.element_ty), mask=real[:, None] & (channel < CHANNELS)[None, :])


@triton.jit
def _weight_gradient(
    slope,
    x,
    parts,
    batch,
    slope_lane,
    x_lane,
    CHANNELS: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    OUTPUTS: tl.constexpr,
    OUT_ROWS: tl.constexpr,
    OUT_COLS: tl.constexpr,
    KERNEL_ROWS: tl.constexpr,
    KERNEL_COLS: tl.constexpr,
    STRIDE_ROWS: tl.constexpr,
    STRIDE_COLS: tl.constexpr,
    PAD_ROWS: tl.constexpr,
    PAD_COLS: tl.constexpr,
    STEP_ROWS: tl.constexpr,
    STEP_COLS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
    SHARE: tl.constexpr,
) -> None:
    """Rows: a kernel's weights in their own order. Columns: output channels. Depth: a share of the output pixels."""
    PIXELS: tl.constexpr = OUT_ROWS * OUT_COLS
    PLACES: tl.constexpr = KERNEL_ROWS * KERNEL_COLS
    TERMS: tl.constexpr = CHANNELS * PLACES
    ROW_TILES: tl.constexpr = (TERMS + ROWS - 1) // ROWS
    lane = tl.program_id(2).to(tl.int64)
    part = tl.program_id(1).to(tl.int64)
    slope += lane * slope_lane
    x += lane * x_lane
    parts += (part * tl.num_programs(2) + lane) * (OUTPUTS * TERMS)

    term = (tl.program_id(0) % ROW_TILES) * ROWS + tl.arange(0, ROWS)
    output = (tl.program_id(0) // ROW_TILES) * COLUMNS + tl.arange(0, COLUMNS)
    down = (term // KERNEL_COLS) % KERNEL_ROWS * STEP_ROWS - PAD_ROWS
    right = term % KERNEL_COLS * STEP_COLS - PAD_COLS
    away = (term // PLACES) * (HEIGHT * WIDTH) + down * WIDTH + right

    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for first in range(0, SHARE, DEPTH):
        pixel = tl.program_id(1) * SHARE + first + tl.arange(0, DEPTH)
        real = pixel < batch * PIXELS
        image = pixel // PIXELS
        place = pixel % PIXELS
        top = (place // OUT_COLS) * STRIDE_ROWS
        left = (place % OUT_COLS) * STRIDE_COLS
        corner = image * (CHANNELS * HEIGHT * WIDTH) + top * WIDTH + left
        inside = (term < TERMS)[:, None] & real[None, :]
        if PAD_ROWS > 0:
            row = down[:, None] + top[None, :]
            inside = inside & (row >= 0) & (row < HEIGHT)
        if PAD_COLS > 0:
            col = right[:, None] + left[None, :]
            inside = inside & (col >= 0) & (col < WIDTH)
        patches = tl.load(x + (away[:, None] + corner[None, :]), mask=inside, other=0.0)
        wanted = (output < OUTPUTS)[:, None] & real[None, :]
        source = (output * PIXELS)[:, None] + (image * (OUTPUTS * PIXELS) + place)[None, :]
        slopes = tl.load(slope + source, mask=wanted, other=0.0)
        total = _add_product(patches, tl.trans(slopes), total, PRECISION)

    target = term[:, None] + (output * TERMS)[None, :]
    wanted = (term < TERMS)[:, None] & (output < OUTPUTS)[None, :]
    tl.store(parts + target, total.to(parts.dtype.element_ty), mask=wanted)
