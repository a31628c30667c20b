"""Fully connected layers mapped over lanes compute what they compute lane by lane."""

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx

from superfed.core.lane_ops.precision import dot_precision
from superfed.core.lane_ops.product import SMALL, LaneLinear, linear, with_lane_products

LANES, BATCH, INPUTS, OUTPUTS = 4, 5, 6, 3

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def loss(x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
    return (linear(x, w, b) ** 3).sum()


@pytest.mark.parametrize("leading", [(BATCH,), (7, BATCH), (), (SMALL + 1,)])
@pytest.mark.parametrize("bias", [True, False])
def test_alone_it_is_torchs(leading: tuple[int, ...], bias: bool) -> None:
    x, w, b = drawn(*leading, INPUTS), drawn(OUTPUTS, INPUTS, seed=1), drawn(OUTPUTS, seed=2) if bias else None
    torch.testing.assert_close(linear(x, w, b), nn.functional.linear(x, w, b), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shared", ["nothing", "x", "w"])
def test_mapped_over_lanes_with_its_gradients(shared: str) -> None:
    x, w, b = drawn(LANES, BATCH, INPUTS), drawn(LANES, OUTPUTS, INPUTS, seed=1), drawn(LANES, OUTPUTS, seed=2)
    dims = (None if shared == "x" else 0, None if shared == "w" else 0, 0)
    given = (x[0] if shared == "x" else x, w[0] if shared == "w" else w, b)
    together = vmap(grad(loss, argnums=(0, 1, 2)), in_dims=dims)(*given)
    for lane in range(LANES):
        own = [t if dim is None else t[lane] for t, dim in zip(given, dims, strict=True)]
        leaves = [t.clone().requires_grad_() for t in own]
        expected = torch.autograd.grad((nn.functional.linear(*leaves) ** 3).sum(), leaves)
        for mine, theirs in zip(together, expected, strict=True):
            torch.testing.assert_close(mine[lane], theirs, rtol=0, atol=1e-10)


def test_second_derivatives_and_lanes_of_lanes() -> None:
    x, w = drawn(2, 3, BATCH, INPUTS), drawn(2, 3, OUTPUTS, INPUTS, seed=1)

    def twice(x: Tensor, w: Tensor) -> Tensor:
        second: Tensor = grad(lambda w: (grad(lambda w: loss(x, w, None))(w) ** 2).sum())(w)
        return second

    def theirs(x: Tensor, w: Tensor) -> Tensor:
        plain = grad(lambda w: (nn.functional.linear(x, w) ** 3).sum())
        second: Tensor = grad(lambda w: (plain(w) ** 2).sum())(w)
        return second

    torch.testing.assert_close(vmap(vmap(twice))(x, w), vmap(vmap(theirs))(x, w), rtol=1e-12, atol=1e-9)


def test_a_trace_has_one_operation_for_each_product() -> None:
    x, w = drawn(LANES, BATCH, INPUTS), drawn(LANES, OUTPUTS, INPUTS, seed=1)
    mapped = vmap(grad(lambda w, x: loss(x, w, None)))
    graph = make_fx(mapped, tracing_mode="fake")(w, x)
    products = [str(node.target) for node in graph.graph.nodes if "superfed" in str(node.target)]
    assert products == ["superfed.conv_lanes.default", "superfed.conv_lanes_weight.default"]  # none for the inputs
    torch.testing.assert_close(graph(w, x), mapped(w, x))


def test_layers_are_exchanged_and_keep_their_parameters() -> None:
    module = nn.Sequential(nn.Linear(INPUTS, 4), nn.ReLU(), nn.Linear(4, OUTPUTS, bias=False)).double()
    x, names = drawn(BATCH, INPUTS), [name for name, _ in module.named_parameters()]
    before = module(x)
    with_lane_products(module)
    assert [type(layer) for layer in module] == [LaneLinear, nn.ReLU, LaneLinear]
    assert [name for name, _ in module.named_parameters()] == names
    values = {name: p.detach() * 2 for name, p in module.named_parameters()}
    torch.testing.assert_close(module(x), before, rtol=0, atol=1e-12)
    assert functional_call(module, values, (x,)).shape == before.shape


@needs_gpu
@pytest.mark.parametrize(("lanes", "inputs", "outputs"), [(200, 784, 200), (50, 4096, 512), (5, 200, 10), (3, 17, 33)])
@pytest.mark.parametrize("apart", [0, 6])
def test_as_exact_as_was_asked_for(lanes: int, inputs: int, outputs: int, apart: int) -> None:
    """Also where lanes' weights do not lie at distances that kernels like."""
    block = drawn(lanes, inputs * outputs + apart, seed=1).float().cuda()
    w = block[:, : inputs * outputs].view(lanes, outputs, inputs)
    x = drawn(lanes, 10, inputs).float().cuda()
    both = vmap(grad(loss, argnums=(0, 1)))
    expected = both(x.double(), w.double(), torch.zeros(lanes, outputs, dtype=torch.float64, device="cuda"))
    before = torch.backends.cuda.matmul.allow_tf32
    try:
        for allowed, bound in ((False, 1e-5), (True, 5e-3)):
            torch.backends.cuda.matmul.allow_tf32 = allowed
            assert dot_precision() == ("tf32" if allowed else "tf32x3")
            found = both(x, w, torch.zeros(lanes, outputs, device="cuda"))
            for mine, theirs in zip(found, expected, strict=True):
                assert (mine.double() - theirs).norm() <= bound * theirs.norm()
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
