"""The kernels of convolutions of many lanes, as matrix products: the patches are gathered while the product is computed.

For every lane a tile of ``rows × columns`` results is summed over blocks of ``depth``. The gathered operand has the rows,
since the tensor cores want 64 of those and are content with few columns. In all three products a gathered tile is read
along the pixels of an image and a tile of weights along their own order, so that neighbouring threads read neighbouring
numbers. Nothing is added by atomics and nothing is chosen by timing: the same shapes give the same numbers.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

try:  # importing the package does not import this file: only who has a GPU needs it
    import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError as missing:
    raise ImportError("Triton comes with torch for CUDA: reinstall that") from missing


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
def convolve(
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
def input_gradient(
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
def weight_gradient(
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
