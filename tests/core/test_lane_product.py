"""Fully connected layers mapped over lanes compute what they compute lane by lane."""

import importlib.util
import os

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx

from superfed.core.lane_ops.precision import dot_precision
from superfed.core.lane_ops.product import LaneLinear, bmm, bmm_lanes, linear, with_lane_products

LANES, BATCH, INPUTS, OUTPUTS = 4, 5, 6, 3

has_triton = importlib.util.find_spec("triton") is not None
interpreted = has_triton and os.environ.get("TRITON_INTERPRET") == "1"
needs_kernels = pytest.mark.skipif(
    not (has_triton and (torch.cuda.is_available() or interpreted)),
    reason="no CUDA device here, nor Triton's interpreter",
)
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def loss(x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
    return (linear(x, w, b) ** 3).sum()


@pytest.mark.parametrize("leading", [(BATCH,), (7, BATCH), ()])
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
    products = [node for node in graph.graph.nodes if "bmm" in str(node.target)]
    assert [str(node.target) for node in products] == ["superfed.bmm_lanes.default"] * 2  # none for the inputs
    torch.testing.assert_close(graph(w, x), mapped(w, x))


def test_layers_are_exchanged_and_keep_their_parameters() -> None:
    module = nn.Sequential(nn.Linear(INPUTS, 4), nn.ReLU(), nn.Linear(4, OUTPUTS, bias=False)).double()
    x, names = drawn(BATCH, INPUTS), [name for name, _ in module.named_parameters()]
    before = module(x)
    with_lane_products(module)
    assert [type(layer) for layer in module] == [LaneLinear, nn.ReLU, LaneLinear]
    assert [name for name, _ in module.named_parameters()] == names
    values = {name: p.detach() * 2 for name, p in module.named_parameters()}
    assert torch.equal(module(x), before)
    assert functional_call(module, values, (x,)).shape == before.shape


def test_the_operation_is_a_sound_one() -> None:
    torch.library.opcheck(bmm_lanes, (drawn(LANES, BATCH, INPUTS), drawn(LANES, INPUTS, OUTPUTS)))


SHAPES = [(3, 10, 40, 50), (1, 1, 1, 1), (2, 50, 300, 33), (2, 130, 17, 70), (1, 200, 9, 260), (7, 10, 700, 20)]


@needs_kernels
@pytest.mark.parametrize(("lanes", "rows", "terms", "columns"), SHAPES)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True)])
def test_kernels(lanes: int, rows: int, terms: int, columns: int, turned: tuple[bool, bool]) -> None:
    from superfed.core.lane_ops.triton_bmm import bmm as by_kernel

    device = "cuda" if torch.cuda.is_available() else "cpu"
    a = drawn(lanes, terms, rows).mT if turned[0] else drawn(lanes, rows, terms)
    b = drawn(lanes, columns, terms, seed=1).mT if turned[1] else drawn(lanes, terms, columns, seed=1)
    found = by_kernel(a.float().to(device), b.float().to(device)).cpu().double()
    expected = a.float().double() @ b.float().double()
    assert (found - expected).norm() <= 3e-6 * expected.norm()


@needs_kernels
def test_kernels_of_lanes_that_share_a_matrix_or_lie_in_a_larger_one() -> None:
    from superfed.core.lane_ops.triton_bmm import bmm as by_kernel

    device = "cuda" if torch.cuda.is_available() else "cpu"
    block = drawn(3, 1000).float().to(device)
    a, b = block[:, 7:307].view(3, 10, 30), drawn(30, 20, seed=1).float().to(device).expand(3, 30, 20)
    expected = a.double() @ b.double()
    assert (by_kernel(a, b).double() - expected).norm() <= 3e-6 * expected.norm()


@needs_gpu
@pytest.mark.parametrize(
    "shape", [(200, 10, 784, 200), (50, 10, 4096, 512), (20, 4000, 256, 1024), (50, 512, 10, 4096)]
)
def test_as_exact_as_was_asked_for(shape: tuple[int, int, int, int]) -> None:
    lanes, rows, terms, columns = shape
    a, b = drawn(lanes, rows, terms).float().cuda(), drawn(lanes, terms, columns, seed=1).float().cuda()
    expected = a.double() @ b.double()
    before = torch.backends.cuda.matmul.allow_tf32
    try:
        for allowed, bound in ((False, 3e-6), (True, 1e-3)):
            torch.backends.cuda.matmul.allow_tf32 = allowed
            assert dot_precision() == ("tf32" if allowed else "tf32x3")
            assert (bmm(a, b).double() - expected).norm() <= bound * expected.norm()
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
