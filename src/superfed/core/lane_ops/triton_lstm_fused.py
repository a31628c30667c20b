"""Steps of LSTM cells on a GPU, each one kernel in Triton with the product in it.

A program computes all four gates of a tile, as that of the pointwise kernels does, and the recurrent product of it. What
it needs of steps long past it loads first: weights, inputs, and on the way back the gates. ``EARLY`` has the kernel of a
step begin while that of the step before it still computes, so that only what that one writes is waited for; it needs
a Hopper chip, and room for all terms of a sum at once. With 64 rows and 8 warps such a kernel read where it must not,
on an H200 with Triton 3.6; with 16 and 32 rows none did.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from superfed.core.lane_ops.precision import dot_precision
from superfed.core.lane_ops.triton_lstm import CellSteps, advance, four, retreat, states, tile, tl, triton


@dataclass(frozen=True)
class Tile:
    """Of a program that computes products."""

    units: int = 32
    terms: int = 64
    """Of the sums, so many at a time; all of them if the kernel begins early."""
    warps: int = 4
    rows: int = 64
    early: bool = False


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
    EARLY: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_UNITS: tl.constexpr,
    BLOCK_SUM: tl.constexpr,
) -> None:
    """A step with its product: the outputs before it with the tile's rows of the recurrent weights."""
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
    lane, row, unit, inside, at_gates, at_cells = tile(rows, UNITS, BLOCK_ROWS, BLOCK_UNITS)
    weights += lane * weights_lane
    output_before += lane * cells_lane
    enter, keep, new, leave = four(projected + lane * gates_lane, at_gates, inside, UNITS)
    for start in range(0, UNITS, BLOCK_SUM):
        across = start + tl.arange(0, BLOCK_SUM)[None, :]
        down = start + tl.arange(0, BLOCK_SUM)[:, None]
        at = weights + unit * UNITS + down
        real = (unit < UNITS) & (down < UNITS)
        w_enter = tl.load(at, mask=real, other=0.0)
        w_keep = tl.load(at + UNITS * UNITS, mask=real, other=0.0)
        w_new = tl.load(at + 2 * UNITS * UNITS, mask=real, other=0.0)
        w_leave = tl.load(at + 3 * UNITS * UNITS, mask=real, other=0.0)
        if EARLY:
            tl.extra.cuda.gdc_wait()
        past = tl.load(output_before + row * UNITS + across, mask=(row < rows) & (across < UNITS), other=0.0)
        enter = tl.dot(past, w_enter, enter, input_precision=PRECISION)
        keep = tl.dot(past, w_keep, keep, input_precision=PRECISION)
        new = tl.dot(past, w_new, new, input_precision=PRECISION)
        leave = tl.dot(past, w_leave, leave, input_precision=PRECISION)
    before = tl.load(state_before + lane * cells_lane + at_cells, mask=inside, other=0.0)
    gates += lane * gates_lane
    state += lane * cells_lane
    output += lane * cells_lane
    advance(enter, keep, new, leave, before, gates, state, output, at_gates, at_cells, inside, UNITS)


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
    EARLY: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_UNITS: tl.constexpr,
    BLOCK_SUM: tl.constexpr,
) -> None:
    """A step backwards with its product: all slopes after it with the tile's rows of the turned recurrent weights."""
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
    lane, row, unit, inside, at_gates, at_cells = tile(rows, UNITS, BLOCK_ROWS, BLOCK_UNITS)
    turned += lane * UNITS * (4 * UNITS)
    slopes_after += lane * gates_lane
    of_output = tl.load(gradient + lane * cells_lane + at_cells, mask=inside, other=0.0).to(tl.float32)
    enter, keep, new, leave = four(gates + lane * gates_lane, at_gates, inside, UNITS)
    before, now = states(state_before, state, lane * cells_lane + at_cells, inside, HAS_BEFORE)
    if EARLY:  # a sum for each gate, since a chain of products of one sum would take longest
        across, down = tl.arange(0, BLOCK_SUM)[None, :], tl.arange(0, BLOCK_SUM)[:, None]
        real, there = (down < UNITS) & (unit < UNITS), (row < rows) & (across < UNITS)
        at, after = turned + unit * (4 * UNITS) + down, slopes_after + row * (4 * UNITS) + across
        w_enter = tl.load(at, mask=real, other=0.0)
        w_keep = tl.load(at + UNITS, mask=real, other=0.0)
        w_new = tl.load(at + 2 * UNITS, mask=real, other=0.0)
        w_leave = tl.load(at + 3 * UNITS, mask=real, other=0.0)
        tl.extra.cuda.gdc_wait()
        by_enter = tl.dot(tl.load(after, mask=there, other=0.0), w_enter, input_precision=PRECISION)
        by_keep = tl.dot(tl.load(after + UNITS, mask=there, other=0.0), w_keep, input_precision=PRECISION)
        by_new = tl.dot(tl.load(after + 2 * UNITS, mask=there, other=0.0), w_new, input_precision=PRECISION)
        by_leave = tl.dot(tl.load(after + 3 * UNITS, mask=there, other=0.0), w_leave, input_precision=PRECISION)
        of_output += (by_enter + by_keep) + (by_new + by_leave)
    else:
        for start in range(0, 4 * UNITS, BLOCK_SUM):
            across = start + tl.arange(0, BLOCK_SUM)[None, :]
            down = start + tl.arange(0, BLOCK_SUM)[:, None]
            part = tl.load(turned + unit * (4 * UNITS) + down, mask=(down < 4 * UNITS) & (unit < UNITS), other=0.0)
            there = (row < rows) & (across < 4 * UNITS)
            after = tl.load(slopes_after + row * (4 * UNITS) + across, mask=there, other=0.0)
            of_output = tl.dot(after, part, of_output, input_precision=PRECISION)
    carry += lane * rows * UNITS
    of_after = tl.load(carry + at_cells, mask=inside, other=0.0)
    slopes += lane * gates_lane
    retreat(of_output, of_after, enter, keep, new, leave, before, now, carry, slopes, at_gates, at_cells, inside, UNITS)


class FusedSteps(CellSteps):
    """One kernel for a whole step; only the first each way, which has no product, is the pointwise one."""

    forward_tile = Tile()
    backward_tile = Tile()

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
        grid, sizes = _program(state, self.forward_tile)
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
            **sizes,
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
        grid, sizes = _program(state, self.backward_tile)
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
            **sizes,
        )

    @cached_property
    def _turned(self) -> Tensor:
        """Tensor cores take both factors in single precision with the terms of a sum as neighbours; turning the weights
        once for all steps is cheap."""
        return self.w_hh.mT.contiguous()


class EarlySteps(FusedSteps):
    """Those that begin early; with few lanes, small tiles leave the least to wait for."""

    forward_tile = backward_tile = Tile(units=32, rows=16, early=True)


def _program(state: Tensor, tile: Tile) -> tuple[tuple[int, int, int], dict[str, int | bool]]:
    """The grid of a kernel and its sizes."""
    lanes, rows, units = state.shape
    block_rows = min(tile.rows, max(16, triton.next_power_of_2(rows)))
    sizes: dict[str, int | bool] = {
        "EARLY": tile.early,
        "BLOCK_ROWS": block_rows,
        "BLOCK_UNITS": tile.units,
        "BLOCK_SUM": max(16, triton.next_power_of_2(units)) if tile.early else tile.terms,
        "num_warps": tile.warps,
    }
    if tile.early:
        sizes["launch_pdl"] = True
    return (triton.cdiv(units, tile.units), triton.cdiv(rows, block_rows), lanes), sizes
