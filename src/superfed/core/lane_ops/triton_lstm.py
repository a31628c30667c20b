"""Steps of LSTM cells on a GPU: a product of torch's, and one kernel in Triton for what follows it.

A program computes a tile of batch rows and units in one lane, all four gates of them, so that what activates the gates
needs no other program's results. Recorded in a CUDA graph, a step costs its memory traffic and little more.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

import torch
from torch import Tensor

try:  # importing the package does not import this file: only who has a GPU needs it
    import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError as missing:
    raise ImportError("LSTM cells on a GPU need Triton, which comes with torch for CUDA: reinstall that") from missing


__all__ = ["CellSteps", "advance", "four", "retreat", "states", "tile", "tl", "triton"]


@triton.jit
def sigmoid(x):  # noqa: ANN202 (the kernels' values have no types of Python's)
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def tanh(x):  # noqa: ANN202
    return 2.0 * sigmoid(2.0 * x) - 1.0


@triton.jit
def tile(rows, UNITS: tl.constexpr, BLOCK_ROWS: tl.constexpr, BLOCK_UNITS: tl.constexpr):  # noqa: ANN201
    """A program's lane, rows and units, which of these there are, and where in a lane their gates and cells lie."""
    row = tl.program_id(1) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)[:, None]
    unit = tl.program_id(0) * BLOCK_UNITS + tl.arange(0, BLOCK_UNITS)[None, :]
    inside = (row < rows) & (unit < UNITS)
    return tl.program_id(2).to(tl.int64), row, unit, inside, row * (4 * UNITS) + unit, row * UNITS + unit


@triton.jit
def four(start, at, inside, UNITS: tl.constexpr):  # noqa: ANN201
    """What lies at a tile for each of the four gates."""
    return (
        tl.load(start + at, mask=inside, other=0.0).to(tl.float32),
        tl.load(start + at + UNITS, mask=inside, other=0.0).to(tl.float32),
        tl.load(start + at + 2 * UNITS, mask=inside, other=0.0).to(tl.float32),
        tl.load(start + at + 3 * UNITS, mask=inside, other=0.0).to(tl.float32),
    )


@triton.jit
def states(before, now, at, inside, HAS_BEFORE: tl.constexpr):  # noqa: ANN201
    """Those of a tile before a step, which are zero where there is no such time, and after it."""
    after = tl.load(now + at, mask=inside, other=0.0)
    earlier = tl.zeros_like(after)
    if HAS_BEFORE:
        earlier = tl.load(before + at, mask=inside, other=0.0)
    return earlier, after


@triton.jit
def store_four(start, at, inside, first, second, third, fourth, UNITS: tl.constexpr) -> None:
    kind = start.dtype.element_ty
    tl.store(start + at, first.to(kind), mask=inside)
    tl.store(start + at + UNITS, second.to(kind), mask=inside)
    tl.store(start + at + 2 * UNITS, third.to(kind), mask=inside)
    tl.store(start + at + 3 * UNITS, fourth.to(kind), mask=inside)


@triton.jit
def advance(
    enter, keep, new, leave, state_before, gates, state, output, at_gates, at_cells, inside, UNITS: tl.constexpr
) -> None:
    """From what the gates of a tile are before their activation to its gates, states and outputs."""
    enter, keep, new, leave = sigmoid(enter), sigmoid(keep), tanh(new), sigmoid(leave)
    store_four(gates, at_gates, inside, enter, keep, new, leave, UNITS)
    now = enter * new + keep * state_before
    tl.store(state + at_cells, now, mask=inside)
    tl.store(output + at_cells, (leave * tanh(now)).to(output.dtype.element_ty), mask=inside)


@triton.jit
def retreat(
    of_output,
    of_state_after,
    enter,
    keep,
    new,
    leave,
    state_before,
    state,
    carry,
    slopes,
    at_gates,
    at_cells,
    inside,
    UNITS: tl.constexpr,
) -> None:
    """From the slopes of a tile's outputs, and of its states by those after them, to the slopes of its gates."""
    bent = tanh(state)
    of_state = of_output * leave * (1.0 - bent * bent) + of_state_after
    of_enter, of_keep = of_state * new * enter * (1.0 - enter), of_state * keep * (1.0 - keep) * state_before
    of_new, of_leave = of_state * enter * (1.0 - new * new), of_output * bent * leave * (1.0 - leave)
    store_four(slopes, at_gates, inside, of_enter, of_keep, of_new, of_leave, UNITS)
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
    lane, _, _, inside, at_gates, at_cells = tile(rows, UNITS, BLOCK_ROWS, BLOCK_UNITS)
    enter, keep, new, leave = four(projected + lane * gates_lane, at_gates, inside, UNITS)
    before = tl.zeros((BLOCK_ROWS, BLOCK_UNITS), tl.float32)
    if HAS_BEFORE:
        more = four(product + lane * rows * (4 * UNITS), at_gates, inside, UNITS)
        enter, keep, new, leave = enter + more[0], keep + more[1], new + more[2], leave + more[3]
        before = tl.load(state_before + lane * cells_lane + at_cells, mask=inside, other=0.0)
    gates += lane * gates_lane
    state += lane * cells_lane
    output += lane * cells_lane
    advance(enter, keep, new, leave, before, gates, state, output, at_gates, at_cells, inside, UNITS)


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
    lane, _, _, inside, at_gates, at_cells = tile(rows, UNITS, BLOCK_ROWS, BLOCK_UNITS)
    of_output = tl.load(gradient + lane * cells_lane + at_cells, mask=inside, other=0.0).to(tl.float32)
    enter, keep, new, leave = four(gates + lane * gates_lane, at_gates, inside, UNITS)
    before, now = states(state_before, state, lane * cells_lane + at_cells, inside, HAS_BEFORE)
    of_after = tl.zeros((BLOCK_ROWS, BLOCK_UNITS), tl.float32)
    carry += lane * rows * UNITS
    if HAS_AFTER:
        of_output += tl.load(product + lane * rows * UNITS + at_cells, mask=inside, other=0.0).to(tl.float32)
        of_after = tl.load(carry + at_cells, mask=inside, other=0.0)
    slopes += lane * gates_lane
    retreat(of_output, of_after, enter, keep, new, leave, before, now, carry, slopes, at_gates, at_cells, inside, UNITS)


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


def _pointwise_tile(units: int) -> tuple[int, int]:
    """Rows and units of a program: about a thousand cells, as many neighbours among them as there are."""
    block_units = min(256, triton.next_power_of_2(units))
    return max(1, 1024 // block_units), block_units
