"""LSTM cells of many lanes on a GPU: python benchmarks/gpu_lstm.py [lanes] [batch] [time] [units] [precision ...]

First the recurrent part of one layer: microseconds of a time step forwards and backwards, for each way to compute it,
with the products or what follows them left out, for several tiles of the fused kernels, and how far off it is from
double precision. Everything is recorded in a CUDA graph and played until its time is steady; the median is shown. Whole
layers are in gpu_lstm_layers.py.
"""

# mypy: allow-untyped-calls

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch
from torch import Tensor

from superfed.core.lane_ops import lstm
from superfed.core.lane_ops.triton_lstm import CellSteps
from superfed.core.lane_ops.triton_lstm_fused import FusedSteps, Tile

TILES = [
    Tile(units=32, terms=64, warps=4),
    Tile(units=32, terms=32, warps=4),
    Tile(units=32, terms=64, warps=8),
    Tile(units=16, terms=128, warps=4),
    Tile(units=16, terms=128, warps=4, rows=16),
    Tile(units=16, terms=256, warps=8, rows=16),
]
TILES += [
    Tile(units=units, rows=rows, warps=warps, early=True)
    for rows in (16, 32, 64)
    for units in (16, 32)
    for warps in (4, 8)
    if (rows, warps) != (64, 8)  # reads where it must not, on an H200
]
PRECISIONS = {"float32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16}


@dataclass(frozen=True)
class Sizes:
    lanes: int = 50
    batch: int = 50
    time: int = 80
    units: int = 256
    device: str = "cuda"

    def some(self, *shape: int, dtype: torch.dtype, lanes: int | None = None) -> Tensor:
        generator = torch.Generator(self.device).manual_seed(0)
        whole = (lanes or self.lanes, *shape)
        return torch.randn(whole, device=self.device, generator=generator).to(dtype)


class ProductsOnly(CellSteps):
    """What follows the products is left out."""

    def cells_forward(self, *_: Any) -> None:
        """Nothing."""

    def cells_backward(self, *_: Any) -> None:
        """Nothing."""


class CellsOnly(CellSteps):
    """The products are left out, and what follows them reads the same numbers at every step."""

    def __init__(self, w_hh: Tensor) -> None:
        super().__init__(w_hh)
        self.product: Tensor | None = None

    def _kept(self, like: Tensor) -> Tensor:
        if self.product is None:
            self.product = torch.zeros(like.shape, dtype=like.dtype, device=like.device)
        return self.product

    def forward(self, projected: Tensor, output_before: Tensor | None, *rest: Any) -> None:
        self.cells_forward(projected, None if output_before is None else self._kept(projected), *rest)

    def backward(self, gradient: Tensor, slopes_after: Tensor | None, *rest: Any) -> None:
        self.cells_backward(gradient, None if slopes_after is None else self._kept(gradient), *rest)


def named(tile: Tile) -> str:
    return f"{'early' if tile.early else f'fused by {tile.terms}'}, {tile.rows} × {tile.units}, {tile.warps} warps"


def fused_with(tile: Tile) -> lstm.StepsOf:
    """The fused steps with another tile both ways."""

    def steps_of(w_hh: Tensor) -> lstm.Steps:
        steps = FusedSteps(w_hh)
        steps.forward_tile = steps.backward_tile = tile
        return steps

    return steps_of


def microseconds(work: Callable[[], object], plays: int = 11) -> float:
    """The median time of ``work`` as a CUDA graph."""
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        work()
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = work()
    for _ in range(3):
        graph.replay()
    times = []
    for _ in range(plays):
        began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        began.record()
        graph.replay()
        ended.record()
        torch.cuda.synchronize()
        times.append(1000 * began.elapsed_time(ended))
    del kept, graph
    torch.cuda.empty_cache()
    return float(median(times))


@contextmanager
def products_in(precision: str) -> Iterator[None]:
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def error(sizes: Sizes, dtype: torch.dtype, steps_of: lstm.StepsOf) -> float:
    """The largest relative error of outputs and gradients, in two lanes."""

    def both(steps_of: lstm.StepsOf, kind: torch.dtype) -> tuple[Tensor, ...]:
        inputs = [part.to(dtype).to(kind) for part in recurrent_inputs(sizes, torch.float32, lanes=2)]
        projected, w_hh, gradient = inputs
        saved = lstm.forward(projected, w_hh, steps_of)
        return saved[0], *lstm.backward(gradient, w_hh, *saved, steps_of)

    pairs = zip(both(steps_of, dtype), both(lstm.TorchSteps, torch.float64), strict=True)
    return max(float((own.double() - exact).norm() / exact.norm()) for own, exact in pairs)


def recurrent_inputs(sizes: Sizes, dtype: torch.dtype, lanes: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Projected inputs, recurrent weights, and the gradient of the outputs."""
    steps, batch, units = sizes.time, sizes.batch, sizes.units
    w_hh = sizes.some(4 * units, units, dtype=torch.float32, lanes=lanes) / units**0.5
    return (
        sizes.some(steps, batch, 4 * units, dtype=dtype, lanes=lanes),
        w_hh.to(dtype),
        sizes.some(steps, batch, units, dtype=dtype, lanes=lanes),
    )


def time_recurrence(sizes: Sizes, precision: str) -> None:
    """A line for each way to compute the recurrent part of one layer."""
    dtype = PRECISIONS[precision]
    projected, w_hh, gradient = recurrent_inputs(sizes, dtype)
    saved = lstm.forward(projected, w_hh, CellSteps)

    def line(name: str, steps_of: lstm.StepsOf, *, there: bool = True, back: bool = True, exact: bool = True) -> None:
        shown = f"  {name:<42}"
        for wanted, work in (
            (there, lambda: lstm.forward(projected, w_hh, steps_of)),
            (back, lambda: lstm.backward(gradient, w_hh, *saved, steps_of)),
        ):
            shown += f"{microseconds(work) / sizes.time:>12.1f}" if wanted else f"{'':>12}"
        print(shown + (f"{error(sizes, dtype, steps_of):>12.1e}" if exact else ""), flush=True)

    title = f"{precision}, {sizes.units} units: microseconds of a time step"
    print(f"\n{title:<44}{'forwards':>12}{'backwards':>12}{'error':>12}")
    line("torch's operations", lstm.TorchSteps)
    line("product, then a kernel", CellSteps)
    line("  the products alone", ProductsOnly, exact=False)
    line("  the kernels alone", CellsOnly, exact=False)
    for tile in TILES:
        name = named(tile)
        try:
            line(name, fused_with(tile))
        except Exception as error:  # whatever Triton says of a tile that a chip has no room for
            print(f"  {name:<42}{type(error).__name__}", flush=True)
    slopes, outputs = saved[1][:, 1:].flatten(1, 2), saved[0][:, :-1].flatten(1, 2)
    once = microseconds(lambda: torch.bmm(slopes.mT, outputs)) / sizes.time
    print(f"  {'the weights gradient, in all ways':<42}{'':>12}{once:>12.1f}")


def main(sizes: Sizes, precisions: list[str]) -> None:
    began = time.perf_counter()
    print(f"{sizes}, torch {torch.__version__}", torch.cuda.get_device_name() if sizes.device == "cuda" else "")
    for precision in precisions:
        with products_in(precision):
            time_recurrence(sizes, precision)
    print(f"\n{time.perf_counter() - began:.0f} seconds in all")


if __name__ == "__main__":
    if not torch.cuda.is_available():
        sys.exit("gpu_lstm: there is no CUDA device here")
    names = ("lanes", "batch", "time", "units")
    numbers = {name: int(size) for name, size in zip(names, sys.argv[1:], strict=False)}
    main(Sizes(**numbers), sys.argv[1 + len(names) :] or list(PRECISIONS))  # type: ignore[arg-type]
