"""The recurrent part of LSTM cells against torch's own kernel: one at a time, mapped over lanes, traced, and in Triton."""

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx

from superfed.core.errors import UserError
from superfed.core.lane_ops import lstm
from superfed.core.lane_ops.lstm import recurrence
from support.lstm_errors import largest, relative_errors, some

LANES, TIME, BATCH, UNITS = 3, 6, 4, 5

has_triton = find_spec("triton") is not None and (
    torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET") == "1"
)
on_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
in_triton = pytest.mark.skipif(not has_triton, reason="Triton is not here, or has neither a GPU nor TRITON_INTERPRET=1")


def projected(*lanes: int, time: int = TIME) -> Tensor:
    return some(*lanes, time, BATCH, 4 * UNITS, seed=1)


def weights(*lanes: int) -> Tensor:
    return some(*lanes, 4 * UNITS, UNITS, seed=2)


def by_torch(projected: Tensor, w_hh: Tensor) -> Tensor:
    """Torch's kernel on inputs that are projected already."""
    zero = projected.new_zeros(1, projected.shape[1], w_hh.shape[1])
    same = torch.eye(projected.shape[2], dtype=projected.dtype, device=projected.device)
    outputs, _, _ = torch.lstm(projected, [zero, zero], [same, w_hh], False, 1, 0.0, True, False, False)
    return outputs


def loss(of: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """One that every output matters to, each differently."""

    def weighted(projected: Tensor, w_hh: Tensor) -> Tensor:
        outputs = of(projected, w_hh)
        weighting = torch.linspace(-1, 1, outputs.numel(), dtype=outputs.dtype, device=outputs.device)
        return (weighting.view(outputs.shape) * outputs**2).sum()

    return weighted


def gradients(of: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    both: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = grad(loss(of), argnums=(0, 1))
    return both


def close(found: Tensor, expected: Tensor) -> bool:
    return found.shape == expected.shape and torch.allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("time", [1, 2, TIME])
def test_alone_it_is_torchs_lstm_with_its_gradients(time: int) -> None:
    found = []
    for of in (recurrence, by_torch):
        at = projected(time=time).requires_grad_(), weights().requires_grad_()
        found.append([of(*at), *torch.autograd.grad(loss(of)(*at), at, materialize_grads=True)])
    for own, stock in zip(*found, strict=True):
        assert close(own, stock)


def test_torchs_own_check_of_gradients() -> None:
    at = projected().requires_grad_(), weights().requires_grad_()
    assert torch.autograd.gradcheck(recurrence, at)


@pytest.mark.parametrize(("p_dim", "w_dim"), [(0, 0), (0, None), (None, 0), (2, 1)])
def test_mapped_over_lanes(p_dim: int | None, w_dim: int | None) -> None:
    """With lanes in front, elsewhere, or missing from what is the same for all."""
    p, w = projected(LANES), weights(LANES)
    laid = p[0] if p_dim is None else p.movedim(0, p_dim), w[0] if w_dim is None else w.movedim(0, w_dim)
    outputs = vmap(recurrence, (p_dim, w_dim))(*laid)
    slopes = vmap(gradients(recurrence), (p_dim, w_dim))(*laid)
    for lane in range(LANES):
        one = p[0 if p_dim is None else lane], w[0 if w_dim is None else lane]
        assert close(outputs[lane], by_torch(*one))
        for own, stock in zip(slopes, gradients(by_torch)(*one), strict=True):
            assert close(own[lane], stock)


def test_the_gradient_of_lanes_that_share_their_weights_is_the_sum() -> None:
    p, w = projected(LANES), weights()

    def together(w: Tensor) -> Tensor:
        return vmap(loss(recurrence), (0, None))(p, w).sum()

    assert close(grad(together)(w), torch.stack([gradients(by_torch)(one, w)[1] for one in p]).sum(0))


def test_lanes_of_lanes() -> None:
    p, w = projected(2, LANES), weights(2, LANES)
    slopes = vmap(vmap(gradients(recurrence)))(p, w)
    for own, flat in zip(slopes, vmap(gradients(recurrence))(p.flatten(0, 1), w.flatten(0, 1)), strict=True):
        assert close(own, flat.view(own.shape))


@pytest.mark.parametrize("tracing", ["real", "fake"])
def test_traced_it_is_one_operation_each_way(tracing: Any) -> None:
    p, w = projected(LANES), weights(LANES)
    mapped = vmap(gradients(recurrence))
    traced = make_fx(mapped, tracing_mode=tracing)(p, w)
    names = [str(node.target) for node in traced.graph.nodes]
    assert [names.count(f"superfed.lstm_lanes{way}.default") for way in ("", "_backward")] == [1, 1]
    assert not any("bmm" in name or "zeros" in name for name in names), (
        "products outside, or gradients of what is saved"
    )
    for replayed, expected in zip(traced(p, w), mapped(p, w), strict=True):
        assert torch.equal(replayed, expected)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_what_compilers_are_told_is_true(dtype: torch.dtype) -> None:
    p, w = projected(LANES).to(dtype), weights(LANES).to(dtype)
    checks = ("test_schema", "test_faketensor")
    torch.library.opcheck(lstm.lstm_lanes, (p, w), test_utils=checks)
    outputs, gates, states = lstm.lstm_lanes(p, w)
    torch.library.opcheck(lstm.lstm_lanes_backward, (outputs, w, outputs, gates, states), test_utils=checks)


@pytest.mark.parametrize("again", [lambda slope, p: grad(slope)(p), lambda slope, p: vmap(grad(slope))(p[None])])
def test_a_second_derivative_is_refused_in_a_sentence(again: Callable[..., Tensor]) -> None:
    w = weights()
    with pytest.raises(UserError) as caught:
        again(lambda p: gradients(recurrence)(p, w)[0].sum(), projected())
    assert "can be differentiated once only" in str(caught.value)


def test_the_inputs_stay_as_they_are() -> None:
    p, w = projected(LANES), weights(LANES)
    before = p.clone(), w.clone()
    vmap(gradients(recurrence))(p, w)
    assert torch.equal(p, before[0])
    assert torch.equal(w, before[1])


SIZES = [(2, 3, 5, 7), (3, 3, 20, 40), (1, 2, 70, 33), (2, 1, 1, 1)]
"""Lanes, times, rows and units; no tile divides them."""


def steps_named(name: str) -> lstm.StepsOf:
    from superfed.core.lane_ops import triton_lstm, triton_lstm_fused

    steps: list[type[triton_lstm.CellSteps]] = [
        triton_lstm.CellSteps,
        triton_lstm_fused.FusedSteps,
        triton_lstm_fused.EarlySteps,
    ]
    return {each.__name__: each for each in steps}[name]


@in_triton
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", ["CellSteps", "FusedSteps"])
def test_triton_computes_the_same(name: str, sizes: tuple[int, int, int, int]) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    assert largest(relative_errors(steps_named(name), sizes, torch.float32, device)) < 1e-5


@pytest.fixture
def begin_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps may begin before the last has ended; the interpreter computes them one after another."""
    import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]

    if not torch.cuda.is_available():
        monkeypatch.setattr(tl.extra.cuda, "gdc_wait", lambda: None)
        monkeypatch.setattr(tl.extra.cuda, "gdc_launch_dependents", lambda: None)
    elif torch.cuda.get_device_capability() < lstm.HOPPER:
        pytest.skip("kernels that begin early need a Hopper chip")


@in_triton
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.usefixtures("begin_early")
def test_steps_that_begin_early(sizes: tuple[int, int, int, int]) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    assert largest(relative_errors(steps_named("EarlySteps"), sizes, torch.float32, device)) < 1e-5


@in_triton
@pytest.mark.parametrize("sizes", SIZES)
def test_triton_in_bfloat16(sizes: tuple[int, int, int, int]) -> None:
    """Triton's interpreter takes no products in bfloat16, so that the fused steps are tested on a GPU only."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    assert largest(relative_errors(steps_named("CellSteps"), sizes, torch.bfloat16, device)) < 3e-2


@on_cuda
@pytest.mark.parametrize(("precision", "most"), [("float32", 1e-5), ("tf32", 3e-3), ("bfloat16", 3e-2)])
@pytest.mark.parametrize("name", ["CellSteps", "FusedSteps"])
@pytest.mark.parametrize("sizes", [(4, 80, 50, 256), (3, 5, 10, 40), (2, 4, 130, 33)])
def test_on_cuda(
    sizes: tuple[int, int, int, int], name: str, precision: str, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lstm, "CHOSEN", steps_named(name))
    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    try:
        assert largest(relative_errors(lstm.steps_for, sizes, dtype, "cuda")) < most
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


@on_cuda
@pytest.mark.usefixtures("begin_early")
@pytest.mark.parametrize("sizes", [(1, 80, 50, 384), (1, 80, 50, 512), (3, 5, 10, 40), (2, 4, 130, 33)])
def test_few_lanes_in_bfloat16_begin_early(sizes: tuple[int, int, int, int]) -> None:
    def steps(lanes: int, units: int) -> str:
        return type(lstm.steps_for(torch.zeros(lanes, 4 * units, units, dtype=torch.bfloat16, device="cuda"))).__name__

    assert (steps(4, 1), steps(5, 1)) == ("EarlySteps", "CellSteps")
    assert (steps(1, 512), steps(1, 513)) == ("EarlySteps", "CellSteps")
    assert largest(relative_errors(lstm.steps_for, sizes, torch.bfloat16, "cuda")) < 3e-2


@on_cuda
def test_on_cuda_in_double_precision() -> None:
    assert largest(relative_errors(lstm.steps_for, (2, 5, 4, 7), torch.float64, "cuda")) < 1e-12


@on_cuda
@pytest.mark.parametrize("name", ["CellSteps", "FusedSteps", "EarlySteps"])
def test_a_cuda_graph_of_mapped_gradients(
    name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recorded once, it computes whatever its inputs hold when it is played."""
    if name == "EarlySteps":
        request.getfixturevalue("begin_early")
    monkeypatch.setattr(lstm, "CHOSEN", steps_named(name))
    p, w = projected(LANES).float().cuda(), weights(LANES).float().cuda()
    mapped = vmap(gradients(recurrence))
    mapped(p, w)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = mapped(p, w)
    p.add_(1)
    graph.replay()
    for played, expected in zip(found, mapped(p, w), strict=True):
        assert torch.allclose(played, expected, rtol=1e-5, atol=1e-6)
