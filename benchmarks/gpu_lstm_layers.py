"""Two layers of LSTM cells on a GPU: python benchmarks/gpu_lstm_layers.py [lanes] [processes] [precision] [ways]

For each way to compute them, the gradients of two layers of every lane, recorded in a CUDA graph as they are and played for
half a second by so many processes at the same time: milliseconds that one of them takes for a step, and client-steps a second
of all. Several processes share the GPU as those of several methods do; start NVIDIA's MPS for that. cuDNN knows no lanes: it
computes each on a stream of its own. The fourth argument names the ways to time, a part of each name is enough:
"cuDNN,early".
"""

# mypy: allow-untyped-calls

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.multiprocessing as mp
from gpu_lstm import PRECISIONS, TILES, Sizes, fused_with, named, products_in
from torch import Tensor
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

from superfed.core.lane_ops import lstm
from superfed.core.lane_ops.cluster_lstm import sequences_of
from superfed.core.lane_ops.triton_lstm import CellSteps
from superfed.core.lane_ops.triton_lstm_fused import Tile
from superfed.models.lstm import LSTM

LETTER = 8  # the numbers that StackedLSTM's first layer reads at a time
SECONDS = 0.5
PATIENCE = 60.0
SOME = [
    TILES[0],
    *(Tile(units, 0, 4, rows, True) for rows, units in ((16, 16), (16, 32), (32, 16), (64, 16), (64, 32))),
]


class Unrolled(LSTM):
    """Cells whose steps autograd sees one by one."""

    def _in_steps(self, x: Tensor) -> Tensor:
        assert self.bias_ih is not None
        assert self.bias_hh is not None
        recurrent = self.weight_hh.t()
        state = output = x.new_zeros(x.shape[1], self.units)
        outputs = []
        for gates in F.linear(x, self.weight_ih, self.bias_ih + self.bias_hh).unbind(0):
            enter, keep, new, leave = (gates + output @ recurrent).chunk(4, dim=-1)
            state = keep.sigmoid() * state + enter.sigmoid() * new.tanh()
            output = leave.sigmoid() * state.tanh()
            outputs.append(output)
        return torch.stack(outputs)


@dataclass(frozen=True)
class Way:
    name: str
    steps_of: lstm.StepsOf = CellSteps
    kind: type[LSTM] = LSTM
    cudnn: bool = False


def ways() -> list[Way]:
    found = [Way("unrolled", kind=Unrolled), Way("cuDNN", cudnn=True)]
    found += [Way("product, then a kernel"), Way("whole sequences", sequences_of)]
    return found + [Way(named(tile), fused_with(tile)) for tile in SOME]


def by_cudnn(sizes: Sizes, dtype: torch.dtype) -> Callable[[], object]:
    """The gradients of all lanes, each on its own stream."""
    stacks = [torch.nn.LSTM(LETTER, sizes.units, num_layers=2).to(sizes.device, dtype) for _ in range(sizes.lanes)]
    x = sizes.some(sizes.time, sizes.batch, LETTER, dtype=dtype)
    streams = [torch.cuda.Stream() for _ in stacks]

    def gradients() -> object:
        found, here = [], torch.cuda.current_stream()
        for lane, (stack, stream) in enumerate(zip(stacks, streams, strict=True)):
            stream.wait_stream(here)
            with torch.cuda.stream(stream):
                loss = (stack(x[lane])[0][-1].float() ** 2).sum()
                found.append(torch.autograd.grad(loss, list(stack.parameters())))
            here.wait_stream(stream)
        return found

    return gradients


def in_lanes(way: Way, sizes: Sizes, dtype: torch.dtype) -> Callable[[], object]:
    """The gradients of all lanes at once."""
    layers = [way.kind(LETTER, sizes.units), way.kind(sizes.units, sizes.units)]
    stack = torch.nn.Sequential(*layers).to(sizes.device, dtype).requires_grad_(False)
    for layer in layers:
        layer.in_lanes = True
    x = sizes.some(sizes.time, sizes.batch, LETTER, dtype=dtype)
    values = {name: value.expand(sizes.lanes, *value.shape).contiguous() for name, value in stack.named_parameters()}

    def loss(values: dict[str, Tensor], x: Tensor) -> Tensor:
        outputs: Tensor = functional_call(stack, values, (x,))
        return (outputs[-1].float() ** 2).sum()

    lstm.CHOSEN = way.steps_of
    of_all: Callable[..., Any] = vmap(grad(loss))
    return lambda: of_all(values, x)


def recorded(way: Way, sizes: Sizes, dtype: torch.dtype) -> tuple[torch.cuda.CUDAGraph, object]:
    """The gradients of all lanes as a graph, and what must be kept as long as it is played."""
    gradients = by_cudnn(sizes, dtype) if way.cudnn else in_lanes(way, sizes, dtype)
    for _ in range(2):
        gradients()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = gradients()
    return graph, (gradients, found)


def plays(graph: torch.cuda.CUDAGraph) -> float:
    """How often it is played in a second."""
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        for _ in range(10):
            graph.replay()
        torch.cuda.synchronize()
        count += 10
    return count / (time.perf_counter() - began)


def process(number: int, sizes: Sizes, precision: str, together: Any, results: Any) -> None:
    """Plays one way at the same time as others do."""
    with products_in(precision):
        try:
            graph, kept = recorded(ways()[number], sizes, PRECISIONS[precision])
            together.wait(PATIENCE)
            results.put(plays(graph))
            together.wait(PATIENCE)
            del graph, kept
        except Exception as error:  # whatever Triton says of a tile that a chip has no room for
            results.put(f"{type(error).__name__}: {str(error).splitlines()[0]}")
            together.abort()


def shown(rates: Sequence[float | str], lanes: int) -> str:
    failures = [rate for rate in rates if isinstance(rate, str)]
    if failures:
        return failures[0]
    a_second = sum(rate for rate in rates if isinstance(rate, float))
    return f"{1000 * len(rates) / a_second:8.2f} ms {a_second * lanes:10,.0f} client-steps/s"


def main(lanes: int, processes: int, precision: str, asked: str) -> None:
    name = torch.cuda.get_device_name()
    print(f"{lanes} lanes, {processes} processes, {precision}, torch {torch.__version__}, {name}", flush=True)
    own = mp.get_context("forkserver")  # a way that fails takes its processes with it, and none that come after
    own.set_forkserver_preload(["gpu_lstm", "superfed.models.lstm"])
    for number, way in enumerate(ways()):
        if not any(part in way.name for part in asked.split(",")):
            continue
        together, results = own.Barrier(processes), own.Queue()
        given = (number, Sizes(lanes=lanes), precision, together, results)
        started = [own.Process(target=process, args=given) for _ in range(processes)]
        for each in started:
            each.start()
        print(f"  {way.name:<44}{shown([results.get(timeout=PATIENCE) for _ in started], lanes)}", flush=True)
        for each in started:
            each.join()


if __name__ == "__main__":
    if not torch.cuda.is_available():
        sys.exit("gpu_lstm_layers: there is no CUDA device here")
    given = dict(zip(("lanes", "processes", "precision", "ways"), sys.argv[1:], strict=False))
    main(
        int(given.get("lanes", 5)),
        int(given.get("processes", 1)),
        given.get("precision", "bf16"),
        given.get("ways", ""),
    )
