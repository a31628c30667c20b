"""Convolutions of many lanes at once equal each lane's own."""

import copy
import importlib.util
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx

from superfed.core.lane_ops.conv import LaneConv2d, conv2d, with_lane_convolutions
from superfed.core.lane_ops.conv_blocks import Blocks, forward_blocks, weight_blocks
from superfed.core.lane_ops.conv_lanes import conv_lanes
from superfed.core.lane_ops.precision import dot_precision

CUDA = torch.cuda.is_available()
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = torch.device("cuda" if CUDA and not INTERPRETED else "cpu")

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None or not (CUDA or INTERPRETED),
    reason="no Triton here, or neither a CUDA device nor TRITON_INTERPRET=1",
)
needs_cuda = pytest.mark.skipif(not CUDA or INTERPRETED, reason="no CUDA device here")

Pair = tuple[int, int]


@dataclass(frozen=True)
class Case:
    """Inputs ``[batch, channels, *sides]``, each lane's weights and how they move."""

    channels: int
    outputs: int
    sides: Pair
    kernel: Pair
    stride: Pair = (1, 1)
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)
    groups: int = 1
    batch: int = 2
    lanes: int = 3

    def layer(self, bias: bool) -> nn.Conv2d:
        return nn.Conv2d(
            self.channels,
            self.outputs,
            self.kernel,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            groups=self.groups,
            bias=bias,
        )

    def draw(self, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
        rng = torch.Generator().manual_seed(0)
        x = torch.randn(self.lanes, self.batch, self.channels, *self.sides, generator=rng)
        shape = (self.lanes, self.outputs, self.channels // self.groups, *self.kernel)
        return x.to(dtype), torch.randn(shape, generator=rng).to(dtype)

    def of_one_lane(self, x: Tensor, w: Tensor) -> Tensor:
        return torch.conv2d(x, w, None, self.stride, self.padding, self.dilation, self.groups)


CASES = {
    "plain": Case(3, 4, (6, 5), (3, 3)),
    "one-by-one": Case(4, 3, (4, 4), (1, 1)),
    "five-by-five": Case(3, 5, (8, 8), (5, 5), padding=(2, 2)),
    "stride": Case(3, 4, (7, 8), (3, 3), stride=(2, 2), padding=(1, 1)),
    "projection": Case(4, 6, (7, 6), (1, 1), stride=(2, 2)),
    "uneven": Case(2, 3, (9, 7), (2, 3), stride=(3, 2), padding=(0, 1)),
    "dilated": Case(2, 3, (9, 8), (3, 2), padding=(2, 1), dilation=(2, 3)),
    "dilated-stride": Case(2, 3, (9, 9), (3, 3), stride=(2, 2), padding=(1, 2), dilation=(2, 1)),
    "one-pixel": Case(4, 4, (1, 1), (3, 3), padding=(1, 1)),
    "two-groups": Case(4, 6, (5, 5), (3, 3), padding=(1, 1), groups=2),
    "multiplier": Case(2, 4, (5, 5), (3, 3), padding=(1, 1), groups=2),
    "depthwise": Case(4, 4, (6, 5), (3, 3), padding=(1, 1), groups=4),
    "depthwise-stride": Case(3, 3, (7, 8), (3, 3), stride=(2, 2), padding=(1, 1), groups=3),
    "depthwise-uneven": Case(2, 2, (9, 7), (2, 3), stride=(3, 2), padding=(0, 3), groups=2),
    "depthwise-dilated": Case(3, 3, (9, 9), (3, 2), stride=(1, 2), padding=(1, 0), dilation=(2, 3), groups=3),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def conv_of(case: Case) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda x, w: conv2d(x, w, None, case.stride, case.padding, case.dilation, case.groups)


def close(ours: Tensor, theirs: Tensor) -> bool:
    return ours.shape == theirs.shape and torch.allclose(ours, theirs, rtol=1e-10, atol=1e-10)


@every_case
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no-bias"])
def test_modules_train_in_lanes_as_alone(case: Case, bias: bool) -> None:
    x, w = case.draw()
    module = nn.Sequential(case.layer(bias), nn.Tanh()).double()
    in_lanes = copy.deepcopy(module)
    with_lane_convolutions(in_lanes)
    assert type(in_lanes[0]) is LaneConv2d
    assert type(module[0]) is nn.Conv2d
    parameters = {"0.weight": w} | ({"0.bias": w[:, :, 0, 0, 0].contiguous()} if bias else {})

    def gradients(module: nn.Module) -> Callable[..., tuple[dict[str, Tensor], Tensor]]:
        return grad(lambda p, x: functional_call(module, p, (x,)).pow(2).sum(), argnums=(0, 1))

    weights, inputs = vmap(gradients(in_lanes))(parameters, x)
    for lane in range(case.lanes):
        own, of_x = gradients(module)({name: value[lane] for name, value in parameters.items()}, x[lane])
        assert close(inputs[lane], of_x)
        assert all(close(weights[name][lane], own[name]) for name in parameters)


@every_case
def test_what_lanes_share_is_not_mapped(case: Case) -> None:
    x, w = case.draw()
    conv = conv_of(case)
    theirs = torch.stack([case.of_one_lane(x[0], one) for one in w])
    assert close(vmap(conv, in_dims=(None, 0))(x[0], w), theirs)
    assert close(vmap(conv, in_dims=(0, None))(x, w[0]), torch.stack([case.of_one_lane(one, w[0]) for one in x]))
    assert close(
        vmap(conv, in_dims=(2, 1), out_dims=1)(x.movedim(0, 2), w.movedim(0, 1))[:, 1], case.of_one_lane(x[1], w[1])
    )
    assert close(conv(x[0], w[0]), theirs[0])
    assert close(conv(x[0][0], w[0]), theirs[0][0])


@every_case
def test_second_derivatives(case: Case) -> None:
    """The gradients of how steep a loss is: they pass through all three functions' own derivatives."""

    def gradients(conv: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
        def steepness(x: Tensor, w: Tensor) -> Tensor:
            of_x, of_w = grad(lambda x, w: conv(x, w).pow(3).sum(), argnums=(0, 1))(x, w)
            total: Tensor = of_x.pow(2).sum() + of_w.pow(2).sum()
            return total

        both: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = grad(steepness, argnums=(0, 1))
        return both

    x, w = case.draw()
    of_x, of_w = vmap(gradients(conv_of(case)))(x, w)
    for lane in range(case.lanes):
        own_x, own_w = gradients(case.of_one_lane)(x[lane], w[lane])
        assert torch.allclose(of_x[lane], own_x, rtol=1e-9, atol=1e-9)
        assert torch.allclose(of_w[lane], own_w, rtol=1e-9, atol=1e-9)


@every_case
def test_lanes_of_lanes_and_gradients_from_outside(case: Case) -> None:
    x, w = case.draw()
    pairs = vmap(vmap(conv_of(case), in_dims=(0, None)), in_dims=(None, 0))(x, w)
    assert pairs.shape[:2] == (case.lanes, case.lanes)
    assert close(pairs[1, 2], case.of_one_lane(x[2], w[1]))
    of_w = grad(lambda w: vmap(conv_of(case))(x, w).pow(2).sum())(w)
    assert close(of_w[1], grad(lambda w: case.of_one_lane(x[1], w).pow(2).sum())(w[1]))


@every_case
def test_a_trace_gives_the_same_and_sees_one_operation(case: Case) -> None:
    x, w = case.draw()
    conv = conv_of(case)
    gradients = vmap(grad(lambda x, w: conv(x, w).pow(2).sum(), argnums=(0, 1)))
    trace = make_fx(gradients)(x, w)
    for traced, direct in zip(trace(x, w), gradients(x, w), strict=True):
        assert torch.equal(traced, direct)
    called = [str(node.target) for node in trace.graph.nodes if node.op == "call_function"]
    opaque = sorted(name for name in called if name.startswith("superfed"))
    depthwise = case.groups == case.channels == case.outputs
    names = ["superfed.conv_lanes.default", "superfed.conv_lanes_input.default", "superfed.conv_lanes_weight.default"]
    assert opaque == ([] if depthwise else names)
    assert not any("convolution" in name for name in called)


def test_inputs_that_need_no_gradient_cost_none() -> None:
    case = CASES["plain"]
    x, w = case.draw()
    conv = conv_of(case)

    def loss(w: Tensor, x: Tensor) -> Tensor:
        return conv(x, w).sum()

    trace = make_fx(vmap(grad(loss)))(w, x)
    assert not any("conv_lanes_input" in str(node.target) for node in trace.graph.nodes)


@every_case
def test_the_operations_shapes_are_known_beforehand(case: Case) -> None:
    x, w = case.draw(torch.float32)
    how = (case.stride, case.padding, case.dilation, case.groups)
    y = conv_lanes(x, w, *how)
    torch.library.opcheck(conv_lanes, (x, w, *how), test_utils=("test_schema", "test_faketensor"))
    ops = torch.ops.superfed
    for op, other, size in ((ops.conv_lanes_input, w, case.sides), (ops.conv_lanes_weight, x, case.kernel)):
        torch.library.opcheck(op.default, (y, other, size, *how), test_utils=("test_schema", "test_faketensor"))


def test_other_layers_stay_as_they_are() -> None:
    layers = [
        nn.Conv2d(2, 2, 3, padding="same"),
        nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular"),
        nn.Conv1d(2, 2, 3),
        nn.ConvTranspose2d(2, 2, 3),
    ]
    module = nn.Sequential(*layers)
    with_lane_convolutions(module)
    assert [type(layer) for layer in module] == [nn.Conv2d, nn.Conv2d, nn.Conv1d, nn.ConvTranspose2d]


def test_precision_is_what_torch_was_told() -> None:
    matmul = torch.backends.cuda.matmul
    before = matmul.allow_tf32
    try:
        matmul.allow_tf32 = True
        assert dot_precision() == "tf32"
        matmul.allow_tf32 = False
        assert dot_precision() == "tf32x3"
    finally:
        matmul.allow_tf32 = before


# The kernels themselves: Triton's interpreter runs them on a CPU (TRITON_INTERPRET=1), slowly, so sizes are small.

KERNEL_CASES = {
    **{name: case for name, case in CASES.items() if case.groups == 1 and name != "dilated-stride"},
    "many-channels": Case(17, 20, (5, 7), (3, 3), padding=(1, 1)),
    "many-channels-stride": Case(17, 20, (6, 6), (3, 3), stride=(2, 2), padding=(1, 1)),
    "more-than-a-tile": Case(5, 70, (9, 9), (3, 3), padding=(1, 1), lanes=1),
    "stem": Case(3, 4, (11, 13), (7, 7), stride=(2, 2), padding=(3, 3)),
    "deep": Case(40, 33, (1, 1), (3, 3), padding=(1, 1), batch=20, lanes=1),
    "one-lane": Case(2, 2, (3, 3), (2, 2), batch=1, lanes=1),
    "long-sums": Case(45, 5, (11, 9), (3, 3), padding=(1, 1), batch=7, lanes=1),
    "long-sums-five": Case(9, 33, (7, 7), (5, 5), padding=(2, 2), batch=3, lanes=2),
}
every_kernel_case = pytest.mark.parametrize("case", KERNEL_CASES.values(), ids=KERNEL_CASES)


def gap(ours: Tensor, reference: Tensor) -> float:
    return float((ours.double() - reference).norm() / reference.norm())


def gaps(
    case: Case, dtype: torch.dtype, precision: str, splits: int | None = None, blocks: Blocks | None = None
) -> tuple[float, float, float]:
    """How far the three kernels are from float64 on the same numbers, relative to the norm of what they should give."""
    from superfed.core.lane_ops import triton_conv

    x, w = (drawn.to(DEVICE) for drawn in case.draw(dtype))
    exact_x, exact_w = x.double().requires_grad_(), w.double().requires_grad_()
    y = torch.stack([case.of_one_lane(*lane) for lane in zip(exact_x, exact_w, strict=True)])
    slope = torch.randn(y.shape, generator=torch.Generator().manual_seed(1)).to(DEVICE, dtype)
    dx, dw = torch.autograd.grad(y, (exact_x, exact_w), slope.double())
    how = (case.stride, case.padding, case.dilation, precision)
    return (
        gap(triton_conv.convolve(x, w, *how, blocks), y.detach()),
        gap(triton_conv.input_gradient(slope, w, case.sides, *how, blocks), dx),
        gap(triton_conv.weight_gradient(slope, x, case.kernel, *how, blocks, splits), dw),
    )


@needs_triton
@every_kernel_case
@pytest.mark.parametrize("splits", [None, 3], ids=["heuristic", "three-splits"])
def test_kernels(case: Case, splits: int | None) -> None:
    assert max(gaps(case, torch.float32, "tf32x3", splits)) < 1e-5


BLOCKS = [(32, 64, 32, 4, 3), (64, 32, 32, 2, 3), (64, 64, 64, 4, 2), (128, 64, 64, 8, 2)]


@needs_triton
@pytest.mark.parametrize("blocks", BLOCKS, ids=str)
@pytest.mark.parametrize("precision", ["tf32x3", "tf32"])
def test_sums_of_many_steps_with_any_blocks(blocks: tuple[int, ...], precision: str) -> None:
    """Their last step is not a whole one."""
    most = 1e-5 if precision == "tf32x3" else 2e-3
    assert max(gaps(KERNEL_CASES["long-sums-five"], torch.float32, precision, blocks=Blocks(*blocks))) < most


LANES = [1, 5, 50, 200, 4000]


@pytest.mark.parametrize("mode", ["float32", "tf32", "bf16"])
@pytest.mark.parametrize("lanes", LANES)
def test_every_shape_has_blocks_that_a_gpu_can_run(mode: str, lanes: int) -> None:
    sizes = (1, 3, 16, 33, 64, 100, 128, 512)
    for pixels, outputs, channels in itertools.product((1, 20, 33, 80, 320, 2560), sizes, sizes):
        for places in (1, 4, 9, 25, 49, 64):
            blocks = forward_blocks(lanes, pixels, outputs, channels, places, mode)
            assert blocks.depth >= places
            assert_runs(blocks)
        assert_runs(weight_blocks(lanes, pixels, outputs, channels * 9, mode))


def assert_runs(blocks: tuple[int, ...]) -> None:
    rows, columns, depth, warps, stages = blocks
    assert all(16 <= side <= 256 and side & (side - 1) == 0 for side in (rows, columns, depth))
    assert stages * (rows + columns) * depth * 4 <= 2**17
    assert warps in (2, 4, 8)
    assert rows * columns <= 32 * warps * 64  # accumulators in registers


@needs_triton
def test_kernels_take_lanes_that_lie_apart_and_lanes_that_are_the_same() -> None:
    from superfed.core.lane_ops import triton_conv

    case = KERNEL_CASES["stride"]
    x, w = (drawn.to(DEVICE) for drawn in case.draw(torch.float32))
    stacked = torch.cat([w.flatten(1), w.flatten(1)[:, :5]], dim=1)
    apart = stacked[:, : w[0].numel()].view_as(w)
    same, transposed = x[:1].expand_as(x), x.transpose(3, 4).contiguous().transpose(3, 4)
    how = (case.stride, case.padding, case.dilation, "tf32x3")
    assert torch.equal(triton_conv.convolve(same, apart, *how), triton_conv.convolve(same.contiguous(), w, *how))
    assert torch.equal(triton_conv.convolve(transposed, w, *how), triton_conv.convolve(x, w, *how))


REAL_SIZES = {
    "two-cnn-1": Case(3, 32, (32, 32), (5, 5), padding=(2, 2), batch=10, lanes=20),
    "two-cnn-2": Case(32, 64, (16, 16), (5, 5), padding=(2, 2), batch=10, lanes=20),
    "two-cnn-2-few": Case(32, 64, (16, 16), (5, 5), padding=(2, 2), batch=10, lanes=1),
    "resnet-stem": Case(3, 64, (32, 32), (3, 3), stride=(2, 2), padding=(1, 1), batch=20, lanes=10),
    "resnet-1": Case(64, 64, (8, 8), (3, 3), padding=(1, 1), batch=20, lanes=10),
    "resnet-2": Case(64, 128, (8, 8), (3, 3), stride=(2, 2), padding=(1, 1), batch=20, lanes=10),
    "resnet-projection": Case(64, 128, (8, 8), (1, 1), stride=(2, 2), batch=20, lanes=10),
    "resnet-4": Case(512, 512, (1, 1), (3, 3), padding=(1, 1), batch=20, lanes=5),
    "mobilenet-1": Case(32, 64, (32, 32), (1, 1), batch=20, lanes=10),
    "mobilenet-4": Case(256, 512, (4, 4), (1, 1), batch=20, lanes=10),
}


@needs_cuda
@pytest.mark.parametrize("case", REAL_SIZES.values(), ids=REAL_SIZES)
@pytest.mark.parametrize(
    ("dtype", "precision", "most"),
    [(torch.float32, "tf32x3", 1e-5), (torch.float32, "tf32", 2e-3), (torch.bfloat16, "tf32", 2e-2)],
    ids=["float32", "tf32", "bfloat16"],
)
def test_kernels_at_real_sizes(case: Case, dtype: torch.dtype, precision: str, most: float) -> None:
    assert max(gaps(case, dtype, precision)) < most


@needs_cuda
@every_case
def test_on_cuda_in_lanes_as_alone(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)  # some of these are torch's own there
    x, w = (drawn.cuda() for drawn in case.draw(torch.float32))
    gradients = vmap(grad(lambda x, w: conv_of(case)(x, w).pow(2).sum(), argnums=(0, 1)))(x, w)
    alone = grad(lambda x, w: vmap(case.of_one_lane)(x, w).pow(2).sum(), argnums=(0, 1))(x.double(), w.double())
    assert max(gap(*pair) for pair in zip(gradients, alone, strict=True)) < 1e-5


@needs_cuda
@pytest.mark.parametrize("name", ["plain", "five-by-five", "stride"])
def test_on_cuda_in_bfloat16(name: str) -> None:
    case = CASES[name]
    x, w = (drawn.cuda() for drawn in case.draw(torch.bfloat16))
    gradients = vmap(grad(lambda x, w: conv_of(case)(x, w).pow(2).sum(), argnums=(0, 1)))(x, w)
    alone = grad(lambda x, w: vmap(case.of_one_lane)(x, w).pow(2).sum(), argnums=(0, 1))(x.double(), w.double())
    assert max(gap(*pair) for pair in zip(gradients, alone, strict=True)) < 2e-2
