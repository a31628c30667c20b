"""Convolutions of many lanes on a GPU, ours against torch's: python benchmarks/gpu_conv.py [--only NAME] [--lanes N] …

For each shape the forward product and both gradients are timed as replayed CUDA graphs: our kernels in three precisions,
the grouped convolution that ``vmap`` makes, and im2col with a batched product. At the larger number of lanes (or more)
our kernels are also timed with other blocks, after those that ``triton_conv`` chooses. Every line says how far the result
is from float64, relative to its norm. Only what is timed is compiled: one shape with one number of lanes takes seconds.
"""

import argparse
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.func import vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F
from torch.nn.grad import conv2d_input, conv2d_weight

from superfed.core.lane_ops import conv, triton_conv
from superfed.core.lane_ops.conv_blocks import Blocks, forward_blocks, weight_blocks

Pair = tuple[int, int]
MODES = {"float32": (torch.float32, "tf32x3"), "tf32": (torch.float32, "tf32"), "bf16": (torch.bfloat16, "tf32")}
WAYS = ("forward", "dx", "dw")
CHECKED = 2
"""Lanes that are compared with float64."""


class Layer(NamedTuple):
    lanes: Pair
    batch: int
    channels: int
    side: int
    outputs: int
    kernel: int
    stride: int = 1
    padding: int = 0
    first: bool = False
    """Whether the gradient of the input is never needed."""

    @property
    def how(self) -> tuple[Pair, Pair, Pair]:
        return (self.stride, self.stride), (self.padding, self.padding), (1, 1)

    @property
    def made(self) -> int:
        return (self.side + 2 * self.padding - self.kernel) // self.stride + 1

    @property
    def ways(self) -> tuple[str, ...]:
        return tuple(way for way in WAYS if not (self.first and way == "dx"))

    @property
    def work(self) -> float:
        """Floating-point operations of one lane and one product."""
        return 2.0 * self.batch * self.made**2 * self.outputs * self.channels * self.kernel**2

    def draw(self, lanes: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
        rng = torch.Generator("cuda").manual_seed(0)
        shapes = (
            (self.batch, self.channels, self.side, self.side),
            (self.outputs, self.channels, self.kernel, self.kernel),
            (self.batch, self.outputs, self.made, self.made),
        )
        x, w, slope = (torch.randn(lanes, *s, device="cuda", generator=rng).to(dtype) for s in shapes)
        return x, w, slope


LAYERS = {
    "two-cnn-1": Layer((5, 200), 10, 3, 32, 32, 5, padding=2, first=True),
    "two-cnn-2": Layer((5, 200), 10, 32, 16, 64, 5, padding=2),
    "resnet-stem": Layer((5, 50), 20, 3, 32, 64, 3, stride=2, padding=1, first=True),
    "resnet-1": Layer((5, 50), 20, 64, 8, 64, 3, padding=1),
    "resnet-2-down": Layer((5, 50), 20, 64, 8, 128, 3, stride=2, padding=1),
    "resnet-2-shortcut": Layer((5, 50), 20, 64, 8, 128, 1, stride=2),
    "resnet-2": Layer((5, 50), 20, 128, 4, 128, 3, padding=1),
    "resnet-3": Layer((5, 50), 20, 256, 2, 256, 3, padding=1),
    "resnet-4": Layer((5, 50), 20, 512, 1, 512, 3, padding=1),
    "mobilenet-1": Layer((5, 50), 20, 32, 32, 64, 1),
    "mobilenet-2": Layer((5, 50), 20, 64, 16, 128, 1),
    "mobilenet-4": Layer((5, 50), 20, 256, 4, 512, 1),
}
DEPTHWISE = {
    "mobilenet-1-depthwise": Layer((5, 50), 20, 32, 32, 32, 3, padding=1),
    "mobilenet-2-depthwise": Layer((5, 50), 20, 64, 32, 64, 3, stride=2, padding=1),
    "mobilenet-4-depthwise": Layer((5, 50), 20, 256, 8, 256, 3, stride=2, padding=1),
}
CANDIDATES = {
    ("float32", "forward"): "128,64,64,8,2 64,64,64,4,2 32,64,32,4,3 32,64,32,2,3 64,32,32,2,3 64,64,32,4,1",
    ("float32", "dx"): "32,64,32,4,3 32,64,32,2,3 64,32,32,2,3 32,32,32,2,3 32,32,32,4,3 64,64,32,4,1",
    ("float32", "dw"): "64,64,32,4,3 128,64,32,8,3 64,64,32,2,3 32,64,32,4,3 128,64,32,8,1",
    ("tf32", "forward"): "128,64,32,4,3 128,128,32,8,3 64,64,32,4,3 64,64,64,4,2 128,64,32,4,1 64,64,32,4,1",
    ("tf32", "dw"): "64,64,32,4,3 128,64,32,8,3 128,128,32,8,3 128,64,32,8,1",
    ("bf16", "forward"): "128,64,64,8,2 128,64,32,4,3 128,64,64,4,2 64,64,64,4,2 128,64,64,8,1",
    ("bf16", "dw"): "64,64,32,4,3 128,64,32,8,3 128,64,64,8,2 128,64,64,8,1",
}
CANDIDATES |= {(mode, "dx"): CANDIDATES[mode, "forward"] for mode in ("tf32", "bf16")}
"""Other blocks to time. Two warps, or 32 rows, are computed by older instructions; one stage is without ``cp.async``,
which in float32 takes four bytes at a time."""


def blocks_of(text: str) -> Blocks:
    return Blocks(*map(int, text.split(",")))


def of_kernels(layer: Layer, way: str, tensors: tuple[Tensor, ...], precision: str, blocks: Blocks | None) -> Tensor:
    x, w, slope = tensors
    if way == "forward":
        return triton_conv.convolve(x, w, *layer.how, precision, blocks)
    if way == "dx":
        return triton_conv.input_gradient(slope, w, (layer.side,) * 2, *layer.how, precision, blocks)
    return triton_conv.weight_gradient(slope, x, (layer.kernel,) * 2, *layer.how, precision, blocks)


def grouped(layer: Layer, way: str, tensors: tuple[Tensor, ...]) -> Tensor:
    """What ``vmap`` does, with the rearrangements that it needs."""
    x, w, slope = tensors
    lanes, (stride, padding, dilation) = len(x), layer.how
    one = w.flatten(0, 1)
    if way == "forward":
        y = torch.conv2d(x.movedim(0, 1).flatten(1, 2), one, None, stride, padding, dilation, lanes)
        return y.unflatten(1, (lanes, -1)).movedim(1, 0)
    wide = slope.movedim(0, 1).flatten(1, 2)
    if way == "dx":
        size = (layer.batch, lanes * layer.channels, layer.side, layer.side)
        return conv2d_input(size, one, wide, *layer.how, lanes).unflatten(1, (lanes, -1)).movedim(1, 0)
    dw = conv2d_weight(x.movedim(0, 1).flatten(1, 2), one.shape, wide, *layer.how, lanes)
    return dw.unflatten(0, (lanes, -1))


def im2col(layer: Layer, way: str, tensors: tuple[Tensor, ...]) -> Tensor:
    """Patches written out as ``[lanes, pixels, weights]`` and one batched product; outputs stay as the product has them."""
    x, w, slope = tensors
    lanes, made, side = len(x), layer.made, layer.side + 2 * layer.padding
    flat = w.flatten(2)
    if way == "dx":
        columns = flat.transpose(1, 2)[:, None] @ slope.flatten(3)
        folded = F.fold(columns.flatten(0, 1), (layer.side,) * 2, layer.kernel, 1, layer.padding, layer.stride)
        return folded.unflatten(0, (lanes, -1))
    padded = F.pad(x, (layer.padding,) * 4)
    image = layer.channels * side * side
    steps = (layer.batch * image, image, layer.stride * side, layer.stride, side * side, side, 1)
    size = (lanes, layer.batch, made, made, layer.channels, layer.kernel, layer.kernel)
    patches = padded.as_strided(size, steps).reshape(lanes, layer.batch * made * made, -1)
    if way == "forward":
        y = torch.bmm(patches, flat.transpose(1, 2))
        return y.view(lanes, layer.batch, made, made, -1).permute(0, 1, 4, 2, 3)
    by_pixel = slope.movedim(2, 4).reshape(lanes, -1, layer.outputs)
    return torch.bmm(by_pixel.transpose(1, 2), patches).view_as(w)


def microseconds(call: Callable[[], object]) -> float:
    """The median of replays of a captured graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            call()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    began = time.perf_counter()
    call()
    torch.cuda.synchronize()
    times = max(1, min(20, int(5e-4 / (time.perf_counter() - began))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(times):
            call()
    found = []
    for _ in range(7):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        found.append(start.elapsed_time(end) * 1e3 / times)
    return statistics.median(found[1:])


def gap(result: Tensor, exact: Tensor) -> float:
    return float((result[:CHECKED].double() - exact).norm() / exact.norm())


def chosen(layer: Layer, way: str, lanes: int, mode: str) -> Blocks:
    """What ``triton_conv`` would choose."""
    places = layer.kernel**2
    pixels = layer.batch * layer.made**2
    if way == "dw":
        return weight_blocks(lanes, pixels, layer.outputs, layer.channels * places, mode)
    if way == "forward":
        return forward_blocks(lanes, pixels, layer.outputs, layer.channels, places, mode)
    pixels, places = layer.batch * (-(-layer.side // layer.stride)) ** 2, (-(-layer.kernel // layer.stride)) ** 2
    phases = layer.stride**2
    return forward_blocks(lanes * phases, pixels, layer.channels, layer.outputs, places, mode)


def candidates(layer: Layer, way: str, lanes: int, mode: str, given: list[Blocks]) -> list[Blocks]:
    """The choice, and at the larger number of lanes some others, no larger than the shape needs."""
    found = [chosen(layer, way, lanes, mode)]
    stride = layer.stride if way == "dx" else 1
    places = (-(-layer.kernel // stride)) ** 2
    side = -(-layer.side // stride) if way == "dx" else layer.made
    rows = layer.channels * places if way == "dw" else layer.batch * side**2
    columns = layer.channels if way == "dx" else layer.outputs
    others = given
    if not given and lanes >= layer.lanes[1]:
        others = [blocks_of(text) for text in CANDIDATES[mode, way].split()]
    for blocks in others:
        fitting = blocks._replace(rows=min(blocks.rows, whole(rows)), columns=min(blocks.columns, whole(columns)))
        if fitting not in found and (way == "dw" or fitting.depth >= places):
            found.append(fitting)
    return found


def whole(number: int) -> int:
    """The next power of two, and 16 at least."""
    return max(16, 1 << (number - 1).bit_length())


def compile_one(job: tuple[Layer, str, int, str, Blocks]) -> str | None:
    """Compile a kernel in a process of its own; Triton keeps it on disk. The number of lanes only changes the splits."""
    layer, way, lanes, mode, blocks = job
    dtype, precision = MODES[mode]
    try:
        of_kernels(layer, way, layer.draw(lanes, dtype), precision, blocks)
        torch.cuda.synchronize()
    except Exception as error:  # one that needs too much is no reason to stop
        return f"{job}: {type(error).__name__}: {str(error)[:200]}"
    finally:
        torch.cuda.empty_cache()
    return None


def line(name: str, way: str, lanes: int, what: str, time_us: float, work: float, off: float) -> None:
    rate = f"{work * lanes / time_us / 1e6:8.1f}" if work else " " * 8
    print(f"{name:22} {way:8} {lanes:4} {what:34} {time_us:10.1f} {rate} {off:9.1e}", flush=True)


def references(layer: Layer, tensors: tuple[Tensor, ...]) -> dict[str, Tensor]:
    few = tuple(t[:CHECKED].double() for t in tensors)
    return {way: grouped(layer, way, few) for way in WAYS}


def measure(name: str, layer: Layer, lanes: int, modes: list[str], given: list[Blocks], quick: bool) -> None:
    torch.cuda.empty_cache()
    for mode in modes:
        dtype, precision = MODES[mode]
        tensors = layer.draw(lanes, dtype)
        exact = references(layer, tensors)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = mode == "tf32"
        for way in layer.ways:
            calls: dict[str, Callable[[], Tensor]] = {}
            for place, blocks in enumerate(candidates(layer, way, lanes, mode, given)):
                label = f"{'ours' if place == 0 else '    '} {mode} {','.join(map(str, blocks))}"
                calls[label] = partial(of_kernels, layer, way, tensors, precision, blocks)
            if not quick:
                calls[f"grouped {mode}"] = partial(grouped, layer, way, tensors)
                calls[f"im2col+bmm {mode}"] = partial(im2col, layer, way, tensors)
            for label, call in calls.items():
                try:
                    line(name, way, lanes, label, microseconds(call), layer.work, gap(call(), exact[way]))
                except Exception as error:  # too much shared memory, or too much memory
                    print(
                        f"{name:22} {way:8} {lanes:4} {label:34} {type(error).__name__}: {str(error)[:80]}", flush=True
                    )


def measure_depthwise(name: str, layer: Layer, lanes: int) -> None:
    """Ours, compiled with all three products in one program, against the grouped convolution's three."""
    x, w, slope = layer.draw(lanes, torch.float32)
    w = w[:, :, :1].contiguous()
    stride, padding, dilation = layer.how
    groups = layer.channels

    def one_lane(x: Tensor, w: Tensor, slope: Tensor) -> tuple[Tensor, ...]:
        y, back = torch.func.vjp(lambda x, w: conv.conv2d(x, w, None, stride, padding, dilation, groups), x, w)
        return y, *back(slope)

    def plain(x: Tensor, w: Tensor, slope: Tensor) -> tuple[Tensor, ...]:
        lanes = len(x)
        wide, one, steep = x.movedim(0, 1).flatten(1, 2), w.flatten(0, 1), slope.movedim(0, 1).flatten(1, 2)
        y = torch.conv2d(wide, one, None, stride, padding, dilation, lanes * groups)
        dx = conv2d_input(wide.shape, one, steep, stride, padding, dilation, lanes * groups)
        dw = conv2d_weight(wide, one.shape, steep, stride, padding, dilation, lanes * groups)
        return *(t.unflatten(1, (lanes, -1)).movedim(1, 0) for t in (y, dx)), dw.view_as(w)

    exact = plain(*(t[:CHECKED].double() for t in (x, w, slope)))
    trace = make_fx(vmap(one_lane))(x, w, slope)
    began = time.perf_counter()
    compiled = torch.compile(trace, fullgraph=True)
    compiled(x, w, slope)
    torch.cuda.synchronize()
    label = f"ours compiled ({time.perf_counter() - began:.0f} s to compile)"
    for what, function in ((label, compiled), ("grouped", plain)):
        results = function(x, w, slope)
        off = max(gap(result, one) for result, one in zip(results, exact, strict=True))
        line(name, "all", lanes, what, microseconds(partial(function, x, w, slope)), 0.0, off)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=[*LAYERS, *DEPTHWISE], action="append", help="this shape; may be repeated")
    parser.add_argument("--lanes", type=int, action="append", help="so many instead of few and many; may be repeated")
    parser.add_argument("--mode", choices=MODES, action="append", help="this precision; may be repeated")
    parser.add_argument(
        "--blocks", action="append", default=[], help="rows,columns,depth,warps,stages to try instead of our candidates"
    )
    parser.add_argument("--quick", action="store_true", help="our kernels only")
    parser.add_argument("--jobs", type=int, default=14, help="processes that compile")
    options = parser.parse_args()
    if torch.version.cuda is None:
        sys.exit("gpu_conv.py: torch is not built for CUDA here")
    given, modes = [blocks_of(text) for text in options.blocks], options.mode or [*MODES]
    names = options.only or [*LAYERS, *DEPTHWISE]
    cases = [
        (name, LAYERS[name], lanes) for name in names if name in LAYERS for lanes in options.lanes or LAYERS[name].lanes
    ]
    jobs = [
        (layer, way, lanes, mode, blocks)
        for _, layer, lanes in cases
        for mode in modes
        for way in layer.ways
        for blocks in candidates(layer, way, lanes, mode, given)
    ]
    began = time.perf_counter()
    if jobs:  # forked while this process has not used CUDA yet: they need not import torch again
        with ProcessPoolExecutor(min(options.jobs, len(jobs)), multiprocessing.get_context("fork")) as pool:
            failures = [failure for failure in pool.map(compile_one, jobs) if failure]
        print(f"{len(jobs)} kernels compiled in {time.perf_counter() - began:.0f} s", *failures, sep="\n", flush=True)
    if not torch.cuda.is_available():
        sys.exit("gpu_conv.py: no CUDA device here")
    print(f"{'shape':22} {'product':8} {'lanes':>4} {'how':34} {'µs':>9} {'TFLOP/s':>8} {'error':>9}", flush=True)
    for name, layer, lanes in cases:
        measure(name, layer, lanes, modes, given, options.quick)
    for name in names:
        if name in DEPTHWISE:
            measure_depthwise(name, DEPTHWISE[name], (options.lanes or DEPTHWISE[name].lanes)[-1])
    print(f"{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
