"""Products of many lanes' matrices on a GPU in single precision, on its tensor cores.

Each number is split into two of the tensor cores' 11 bits, and three of the four products of the parts are summed, which
leaves an error of about single precision's. The cores' own sums are not rounded but cut off, so they are kept short, and
added up in ordinary arithmetic. Nothing is chosen by timing: the same shapes give the same numbers.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from typing import NamedTuple

import torch
from torch import Tensor

try:  # importing the package does not import this file: only who has a GPU needs it
    import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError as missing:
    raise ImportError("products of lanes on a GPU need Triton, which comes with torch for CUDA") from missing

PROCESSORS = 132
"""Of an H200: fewer programs than these leave some of it idle."""
TERMS = 128
"""Of a sum that the tensor cores make by themselves."""


class Tile(NamedTuple):
    """What one program computes, how many terms it takes at a time, and how the compiler runs it."""

    rows: int
    columns: int
    depth: int
    warps: int = 4
    stages: int = 3


def tile_for(lanes: int, rows: int, columns: int, terms: int) -> Tile:
    tall, wide = _power_of_two(rows, 16, 128), _power_of_two(columns, 16, 128)
    if terms <= 16:  # the gradient of weights over a small batch, which is all writing
        return Tile(tall, min(wide, 64), 16, warps=8 if tall == 128 else 4, stages=2)
    wide = min(wide, 64)
    while wide > 16 and lanes * -(-rows // tall) * -(-columns // wide) < PROCESSORS:
        wide //= 2
    if tall <= 32:
        return Tile(tall, wide, _power_of_two(terms, 16, 64))
    return Tile(tall, wide, _power_of_two(terms, 16, 32), warps=8 if tall == 128 else 4)


def bmm(a: Tensor, b: Tensor, tile: Tile | None = None) -> Tensor:
    """``torch.bmm`` of float32 matrices, however they lie."""
    lanes, rows, terms = a.shape
    columns = b.shape[2]
    c = a.new_empty(lanes, rows, columns)
    rows_at_once, columns_at_once, depth, warps, stages = tile or tile_for(lanes, rows, columns, terms)
    grid = (triton.cdiv(rows, rows_at_once) * triton.cdiv(columns, columns_at_once), lanes)
    with torch.cuda.device_of(a):
        _bmm[grid](
            a,
            b,
            c,
            *a.stride(),
            *b.stride(),
            rows,
            columns,
            terms,
            ROWS=rows_at_once,
            COLUMNS=columns_at_once,
            DEPTH=depth,
            STEPS=max(TERMS // depth, 1),
            num_warps=warps,
            num_stages=stages,
        )
    return c


def _power_of_two(number: int, least: int, most: int) -> int:
    return min(max(1 << (number - 1).bit_length(), least), most)


@triton.jit
def _upper(x):  # noqa: ANN202 (the kernels' values have no types of Python's)
    """The part of each number that the tensor cores see."""
    return (x.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)


@triton.jit
def _bmm(
    a,
    b,
    c,
    a_lane,
    a_row,
    a_term,
    b_lane,
    b_term,
    b_column,
    rows: tl.constexpr,
    columns: tl.constexpr,
    terms: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    STEPS: tl.constexpr,
) -> None:
    lane = tl.program_id(1).to(tl.int64)
    a += lane * a_lane
    b += lane * b_lane
    c += lane * (rows * columns)
    tiles: tl.constexpr = (columns + COLUMNS - 1) // COLUMNS
    row = tl.program_id(0) // tiles * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(0) % tiles * COLUMNS + tl.arange(0, COLUMNS)
    term = tl.arange(0, DEPTH)
    has_row, has_column = row < rows, column < columns
    at_a = row[:, None] * a_row + term[None, :] * a_term
    at_b = term[:, None] * b_term + column[None, :] * b_column

    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for first in range(0, terms, STEPS * DEPTH):
        part = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        for step in range(STEPS):
            begin = first + step * DEPTH
            exists = term < terms - begin
            x = tl.load(a + begin * a_term + at_a, mask=has_row[:, None] & exists[None, :], other=0.0)
            y = tl.load(b + begin * b_term + at_b, mask=exists[:, None] & has_column[None, :], other=0.0)
            x_upper, y_upper = _upper(x), _upper(y)
            part = tl.dot(x_upper, y - y_upper, part, input_precision="tf32")
            part = tl.dot(x - x_upper, y_upper, part, input_precision="tf32")
            part = tl.dot(x_upper, y_upper, part, input_precision="tf32")
        total += part
    at_c = row[:, None] * columns + column[None, :]
    tl.store(c + at_c, total, mask=has_row[:, None] & has_column[None, :])
