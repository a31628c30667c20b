"""Steps of LSTM cells on a GPU, with kernels in Triton.

A program computes a tile of batch rows and units in one lane, all four gates of them: what activates the gates then
needs no other program's results, whether the recurrent product was computed before or is computed by the same program.
Recorded in a CUDA graph, a step costs its memory traffic and little more.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from functools import cached_property

import torch
from torch import Tensor

from superfed.core.lane_ops.precision import dot_precision

try:  # importing the package does not import this file: only who has a GPU needs it
    import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError as missing:
    raise ImportError("LSTM cells on a GPU need Triton, which comes with torch for CUDA: reinstall that") from missing

Tile = tuple[int, int, int]
"""Of a program that computes products: its units, the terms of their sums it takes at a time, and its warps."""


@triton.jit
def _sigmoid(x):  # noqa: ANN202 (the kernels' values have no types of Python's)
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def _tanh(x):  # noqa: ANN202
    return 2.0 * _sigmoid(2.0 * x) - 1.0


@triton.jit
def _advance(
    enter,
    keep,
    new,
    leave,
    projected,
    state_before,
    gates,
    state,
    output,
    at_gates,
    at_cells,
    inside,
    UNITS: tl.constexpr,
    HAS_BEFORE: tl.constexpr,
) -> None:
    """From the recurrent products of a tile to its gates, states and outputs."""
    enter += tl.load(projected + at_gates, mask=inside, other=0.0).to(tl.float32)
    keep += tl.load(projected + at_gates + UNITS, mask=inside, other=0.0).to(tl.float32)
    new += tl.load(projected + at_gates + 2 * UNITS, mask=inside, other=0.0).to(tl.float32)
    leave += tl.load(projected + at_gates + 3 * UNITS, mask=inside, other=0.0).to(tl.float32)
    enter, keep, new, leave = _sigmoid(enter), _sigmoid(keep), _tanh(new), _sigmoid(leave)
    kind = gates.dtype.element_ty
    tl.store(gates + at_gates, enter.to(kind), mask=inside)
    tl.store(gates + at_gates + UNITS, keep.to(kind), mask=inside)
    tl.store(gates + at_gates + 2 * UNITS, new.to(kind), mask=inside)
    tl.store(gates + at_gates + 3 * UNITS, leave.to(kind), mask=inside)
    now = enter * new
    if HAS_BEFORE:
        now += keep * tl.load(state_before + at_cells, mask=inside, other=0.0)
    tl.store(state + at_cells, now, mask=inside)
    tl.store(output + at_cells, (leave * _tanh(now)).to(output.dtype.element_ty), mask=inside)


@triton.jit
def _retreat(
    of_output,
    gradient,
    gates,
    state_before,
    state,
    carry,
    slopes,
    at_gates,
    at_cells,
    inside,
    UNITS: tl.constexpr,
    HAS_BEFORE: tl.constexpr,
    HAS_AFTER: tl.constexpr,
) -> None:
    """From the recurrent product of the slopes after it to a tile's own slopes."""
    of_output += tl.load(gradient + at_cells, mask=inside, other=0.0).to(tl.float32)
    enter = tl.load(gates + at_gates, mask=inside, other=0.0).to(tl.float32)
    keep = tl.load(gates + at_gates + UNITS, mask=inside, other=0.0).to(tl.float32)
    new = tl.load(gates + at_gates + 2 * UNITS, mask=inside, other=0.0).to(tl.float32)
    leave = tl.load(gates + at_gates + 3 * UNITS, mask=inside, other=0.0).to(tl.float32)
    bent = _tanh(tl.load(state + at_cells, mask=inside, other=0.0))
    of_state = of_output * leave * (1.0 - bent * bent)
    if HAS_AFTER:
        of_state += tl.load(carry + at_cells, mask=inside, other=0.0)
    of_keep = of_state * keep * (1.0 - keep)
    if HAS_BEFORE:
        of_keep *= tl.load(state_before + at_cells, mask=inside, other=0.0)
    else:
        of_keep *= 0.0
    kind = slopes.dtype.element_ty
    tl.store(slopes + at_gates, (of_state * new * enter * (1.0 - enter)).to(kind), mask=inside)
    tl.store(slopes + at_gates + UNITS, of_keep.to(kind), mask=inside)
    tl.store(slopes + at_gates + 2 * UNITS, (of_state * enter * (1.0 - new * new)).to(kind), mask=inside)
    tl.store(slopes + at_gates + 3 * UNITS, (of_output * bent * leave * (1.0 - leave)).to(kind), mask=inside)
    tl.store(carry + at_cells, of_state * keep, mask=inside)


@triton.jit
def cell_forward(
    projected,
    product,
    state_before,
    gates,
    state,
    output,
    gates_lane,
    cells_lane,
    rows,
    UNITS: tl.constexpr,
    HAS_BEFORE: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_UNITS: tl.constexpr,
) -> None:
    """The pointwise part of a step."""
    lane = tl.program_id(2).to(tl.int64)
    row = tl.program_id(1) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)[:, None]
    unit = tl.program_id(0) * BLOCK_UNITS + tl.arange(0, BLOCK_UNITS)[None, :]
    inside = (row < rows) & (unit < UNITS)
    at_gates, at_cells = row * (4 * UNITS) + unit, row * UNITS + unit
    enter = tl.zeros((BLOCK_ROWS, BLOCK_UNITS), tl.float32)
    keep = tl.zeros((BLOCK_ROWS, BLOCK_UNITS), tl.float32)
    new = tl.zeros((BLOCK_ROWS, BLOCK_UNITS), tl.float32)
    leave = tl.zeros((BLOCK_ROWS, BLOCK_UNITS), tl.float32)
    if HAS_BEFORE:
        product += lane * rows * (4 * UNITS)
        enter += tl.load(product + at_gates, mask=inside, other=0.0).to(tl.float32)
        keep += tl.load(product + at_gates + UNITS, mask=inside, other=0.0).to(tl.float32)
        new += tl.load(product + at_gates + 2 * UNITS, mask=inside, other=0.0).to(tl.float32)
        leave += tl.load(product + at_gates + 3 * UNITS, mask=inside, other=0.0).to(tl.float32)
    _advance(
        enter,
        keep,
        new,
        leave,
        projected + lane * gates_lane,
        state_before + lane * cells_lane,
        gates + lane * gates_lane,
        state + lane * cells_lane,
        output + lane * cells_lane,
        at_gates,
        at_cells,
        inside,
        UNITS,
        HAS_BEFORE,
    )


@triton.jit
def cell_backward(
    product,
    gradient,
    gates,
    state_before,
    state,
    carry,
    slopes,
    gates_lane,
    cells_lane,
    rows,
    UNITS: tl.constexpr,
    HAS_BEFORE: tl.constexpr,
    HAS_AFTER: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_UNITS: tl.constexpr,
) -> None:
    """The pointwise part of a step backwards."""
    lane = tl.program_id(2).to(tl.int64)
    row = tl.program_id(1) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)[:, None]
    unit = tl.program_id(0) * BLOCK_UNITS + tl.arange(0, BLOCK_UNITS)[None, :]
    inside = (row < rows) & (unit < UNITS)
    at_gates, at_cells = row * (4 * UNITS) + unit, row * UNITS + unit
    of_output = tl.zeros((BLOCK_ROWS, BLOCK_UNITS), tl.float32)
    if HAS_AFTER:
        of_output += tl.load(product + lane * rows * UNITS + at_cells, mask=inside, other=0.0).to(tl.float32)
    _retreat(
        of_output,
        gradient + lane * cells_lane,
        gates + lane * gates_lane,
        state_before + lane * cells_lane,
        state + lane * cells_lane,
        carry + lane * rows * UNITS,
        slopes + lane * gates_lane,
        at_gates,
        at_cells,
        inside,
        UNITS,
        HAS_BEFORE,
        HAS_AFTER,
    )


@triton.jit
def fused_forward(
    projected,
    weights,
    output_before,
    state_before,
    gates,
    state,
    output,
    weights_lane,
    gates_lane,
    cells_lane,
    rows,
    UNITS: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_UNITS: tl.constexpr,
    BLOCK_SUM: tl.constexpr,
) -> None:
    """A step with its product: the outputs before it with the tile's rows of the recurrent weights."""
    lane = tl.program_id(2).to(tl.int64)
    row = tl.program_id(1) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)[:, None]
    unit = tl.program_id(0) * BLOCK_UNITS + tl.arange(0, BLOCK_UNITS)[None, :]
    inside = (row < rows) & (unit < UNITS)
    weights += lane * weights_lane
    output_before += lane * cells_lane
    enter = tl.zeros((BLOCK_ROWS, BLOCK_UNITS), tl.float32)
    keep = tl.zeros((BLOCK_ROWS, BLOCK_UNITS), tl.float32)
    new = tl.zeros((BLOCK_ROWS, BLOCK_UNITS), tl.float32)
    leave = tl.zeros((BLOCK_ROWS, BLOCK_UNITS), tl.float32)
    for start in range(0, UNITS, BLOCK_SUM):
        across = start + tl.arange(0, BLOCK_SUM)[None, :]
        down = start + tl.arange(0, BLOCK_SUM)[:, None]
        past = tl.load(output_before + row * UNITS + across, mask=(row < rows) & (across < UNITS), other=0.0)
        tile = weights + unit * UNITS + down
        real = (unit < UNITS) & (down < UNITS)
        w_enter = tl.load(tile, mask=real, other=0.0)
        w_keep = tl.load(tile + UNITS * UNITS, mask=real, other=0.0)
        w_new = tl.load(tile + 2 * UNITS * UNITS, mask=real, other=0.0)
        w_leave = tl.load(tile + 3 * UNITS * UNITS, mask=real, other=0.0)
        enter = tl.dot(past, w_enter, enter, input_precision=PRECISION)
        keep = tl.dot(past, w_keep, keep, input_precision=PRECISION)
        new = tl.dot(past, w_new, new, input_precision=PRECISION)
        leave = tl.dot(past, w_leave, leave, input_precision=PRECISION)
    _advance(
        enter,
        keep,
        new,
        leave,
        projected + lane * gates_lane,
        state_before + lane * cells_lane,
        gates + lane * gates_lane,
        state + lane * cells_lane,
        output + lane * cells_lane,
        row * (4 * UNITS) + unit,
        row * UNITS + unit,
        inside,
        UNITS,
        True,
    )


@triton.jit
def fused_backward(
    turned,
    slopes_after,
    gradient,
    gates,
    state_before,
    state,
    carry,
    slopes,
    gates_lane,
    cells_lane,
    rows,
    UNITS: tl.constexpr,
    HAS_BEFORE: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_UNITS: tl.constexpr,
    BLOCK_SUM: tl.constexpr,
) -> None:
    """A step backwards with its product: all slopes after it with the tile's rows of the turned recurrent weights."""
    lane = tl.program_id(2).to(tl.int64)
    row = tl.program_id(1) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)[:, None]
    unit = tl.program_id(0) * BLOCK_UNITS + tl.arange(0, BLOCK_UNITS)[None, :]
    inside = (row < rows) & (unit < UNITS)
    turned += lane * UNITS * (4 * UNITS)
    slopes_after += lane * gates_lane
    of_output = tl.zeros((BLOCK_ROWS, BLOCK_UNITS), tl.float32)
    for start in range(0, 4 * UNITS, BLOCK_SUM):
        across = start + tl.arange(0, BLOCK_SUM)[None, :]
        down = start + tl.arange(0, BLOCK_SUM)[:, None]
        after = tl.load(slopes_after + row * (4 * UNITS) + across, mask=(row < rows) & (across < 4 * UNITS), other=0.0)
        tile = tl.load(turned + unit * (4 * UNITS) + down, mask=(down < 4 * UNITS) & (unit < UNITS), other=0.0)
        of_output = tl.dot(after, tile, of_output, input_precision=PRECISION)
    _retreat(
        of_output,
        gradient + lane * cells_lane,
        gates + lane * gates_lane,
        state_before + lane * cells_lane,
        state + lane * cells_lane,
        carry + lane * rows * UNITS,
        slopes + lane * gates_lane,
        row * (4 * UNITS) + unit,
        row * UNITS + unit,
        inside,
        UNITS,
        HAS_BEFORE,
        True,
    )


class CellSteps:
    """A product and one kernel for what follows it."""

    def __init__(self, w_hh: Tensor) -> None:
        self.w_hh = w_hh

    def forward(
        self,
        projected: Tensor,
        output_before: Tensor | None,
        state_before: Tensor | None,
        gates: Tensor,
        state: Tensor,
        output: Tensor,
    ) -> None:
        product = None if output_before is None else torch.bmm(output_before, self.w_hh.mT)
        self.cells_forward(projected, product, state_before, gates, state, output)

    def backward(
        self,
        gradient: Tensor,
        slopes_after: Tensor | None,
        gates: Tensor,
        state_before: Tensor | None,
        state: Tensor,
        carry: Tensor,
        slopes: Tensor,
    ) -> None:
        product = None if slopes_after is None else torch.bmm(slopes_after, self.w_hh)
        self.cells_backward(gradient, product, gates, state_before, state, carry, slopes)

    def cells_forward(
        self,
        projected: Tensor,
        product: Tensor | None,
        state_before: Tensor | None,
        gates: Tensor,
        state: Tensor,
        output: Tensor,
    ) -> None:
        lanes, rows, units = state.shape
        block_rows, block_units = _pointwise_tile(units)
        cell_forward[(triton.cdiv(units, block_units), triton.cdiv(rows, block_rows), lanes)](
            projected,
            projected if product is None else product,
            state if state_before is None else state_before,
            gates,
            state,
            output,
            gates.stride(0),
            state.stride(0),
            rows,
            UNITS=units,
            HAS_BEFORE=product is not None,
            BLOCK_ROWS=block_rows,
            BLOCK_UNITS=block_units,
        )

    def cells_backward(
        self,
        gradient: Tensor,
        product: Tensor | None,
        gates: Tensor,
        state_before: Tensor | None,
        state: Tensor,
        carry: Tensor,
        slopes: Tensor,
    ) -> None:
        lanes, rows, units = state.shape
        block_rows, block_units = _pointwise_tile(units)
        cell_backward[(triton.cdiv(units, block_units), triton.cdiv(rows, block_rows), lanes)](
            gradient if product is None else product,
            gradient,
            gates,
            state if state_before is None else state_before,
            state,
            carry,
            slopes,
            gates.stride(0),
            state.stride(0),
            rows,
            UNITS=units,
            HAS_BEFORE=state_before is not None,
            HAS_AFTER=product is not None,
            BLOCK_ROWS=block_rows,
            BLOCK_UNITS=block_units,
        )


class FusedSteps(CellSteps):
    """One kernel for a whole step; only the first each way, which has no product, is the pointwise one."""

    forward_tile: Tile = (32, 64, 4)
    backward_tile: Tile = (32, 64, 4)

    def __init__(self, w_hh: Tensor) -> None:
        super().__init__(w_hh if w_hh.stride()[1:] == (w_hh.shape[2], 1) else w_hh.contiguous())
        self.precision = dot_precision()

    def forward(
        self,
        projected: Tensor,
        output_before: Tensor | None,
        state_before: Tensor | None,
        gates: Tensor,
        state: Tensor,
        output: Tensor,
    ) -> None:
        if output_before is None:
            self.cells_forward(projected, None, None, gates, state, output)
            return
        grid, tile = self._tiles(state, self.forward_tile)
        fused_forward[grid](
            projected,
            self.w_hh,
            output_before,
            state_before,
            gates,
            state,
            output,
            self.w_hh.stride(0),
            gates.stride(0),
            state.stride(0),
            state.shape[1],
            UNITS=state.shape[2],
            PRECISION=self.precision,
            **tile,
        )

    def backward(
        self,
        gradient: Tensor,
        slopes_after: Tensor | None,
        gates: Tensor,
        state_before: Tensor | None,
        state: Tensor,
        carry: Tensor,
        slopes: Tensor,
    ) -> None:
        if slopes_after is None:
            self.cells_backward(gradient, None, gates, state_before, state, carry, slopes)
            return
        grid, tile = self._tiles(state, self.backward_tile)
        fused_backward[grid](
            self._turned,
            slopes_after,
            gradient,
            gates,
            state if state_before is None else state_before,
            state,
            carry,
            slopes,
            gates.stride(0),
            state.stride(0),
            state.shape[1],
            UNITS=state.shape[2],
            HAS_BEFORE=state_before is not None,
            PRECISION=self.precision,
            **tile,
        )

    @cached_property
    def _turned(self) -> Tensor:
        """Tensor cores take both factors in single precision with the terms of a sum as neighbours; turning the weights
        once for all steps is cheap."""
        return self.w_hh.mT.contiguous()

    def _tiles(self, state: Tensor, tile: Tile) -> tuple[tuple[int, int, int], dict[str, int]]:
        lanes, rows, units = state.shape
        block_rows = min(64, max(16, triton.next_power_of_2(rows)))
        block_units, block_sum, warps = tile
        sizes = {"BLOCK_ROWS": block_rows, "BLOCK_UNITS": block_units, "BLOCK_SUM": block_sum, "num_warps": warps}
        return (triton.cdiv(units, block_units), triton.cdiv(rows, block_rows), lanes), sizes


def _pointwise_tile(units: int) -> tuple[int, int]:
    """Rows and units of a program: about a thousand cells, as many neighbours among them as there are."""
    block_units = min(256, triton.next_power_of_2(units))
    return max(1, 1024 // block_units), block_units
