"""Layers of LSTM cells computed as one, against the layers one after another."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx

from superfed.core.lane_ops.lstm import recurrence
from superfed.core.lane_ops.lstm_waves import stacked_recurrence

LANES, TIME, BATCH, UNITS = 3, 6, 4, 5
Parts = tuple[Tensor, list[Tensor], list[Tensor], list[Tensor | None]]


def some(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def parts(layers: int, *lanes: int, bias: bool = True, time: int = TIME) -> Parts:
    recurrent = [some(*lanes, 4 * UNITS, UNITS, seed=10 + i) for i in range(layers)]
    inputs = [some(*lanes, 4 * UNITS, UNITS, seed=20 + i) for i in range(1, layers)]
    biases = [some(*lanes, 4 * UNITS, seed=30 + i) if bias else None for i in range(1, layers)]
    return some(*lanes, time, BATCH, 4 * UNITS, seed=1), recurrent, inputs, biases


def layer_by_layer(
    projected: Tensor, recurrent: list[Tensor], inputs: list[Tensor], biases: list[Tensor | None]
) -> Tensor:
    outputs = recurrence(projected, recurrent[0])
    for own, below, bias in zip(recurrent[1:], inputs, biases, strict=True):
        outputs = recurrence(torch.nn.functional.linear(outputs, below, bias), own)
    return outputs


def gradients(of: Callable[..., Tensor]) -> Callable[..., Any]:
    """Of a loss that every output matters to, each differently, by everything."""

    def loss(*parts: Any) -> Tensor:
        outputs = of(*parts)
        weighting = torch.linspace(-1, 1, outputs.numel(), dtype=outputs.dtype, device=outputs.device)
        return (weighting.view(outputs.shape) * outputs**2).sum()

    found: Callable[..., Any] = grad(loss, argnums=(0, 1, 2, 3))
    return found


def assert_alike(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("time", [1, 2, TIME])
@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_the_layers_outputs_and_gradients(layers: int, time: int, bias: bool) -> None:
    at = parts(layers, bias=bias, time=time)
    assert_alike(stacked_recurrence(*at), layer_by_layer(*at))
    if bias or layers == 1:
        assert_alike(gradients(stacked_recurrence)(*at), gradients(layer_by_layer)(*at))


def test_gradients_without_biases() -> None:
    projected, recurrent, inputs, biases = parts(3, bias=False)

    def slopes(of: Callable[..., Tensor]) -> Any:
        def known(*at: Any) -> Tensor:
            return of(*at, biases)

        return grad(lambda *at: known(*at).square().sum(), argnums=(0, 1, 2))(projected, recurrent, inputs)

    assert_alike(slopes(stacked_recurrence), slopes(layer_by_layer))


def test_mapped_over_lanes() -> None:
    at = parts(3, LANES)
    assert_alike(vmap(stacked_recurrence)(*at), vmap(layer_by_layer)(*at))
    assert_alike(vmap(gradients(stacked_recurrence))(*at), vmap(gradients(layer_by_layer))(*at))


def test_a_layer_waits_for_its_time_whatever_its_bias_says() -> None:
    """Were it let go early, its cells would be full of its bias by then."""
    projected, recurrent, inputs, biases = parts(4)
    high: list[Tensor | None] = [None if bias is None else bias + 50 for bias in biases]
    at = projected, recurrent, inputs, high
    assert_alike(stacked_recurrence(*at), layer_by_layer(*at))


def test_traced_it_is_one_operation_each_way_for_all_layers() -> None:
    at = parts(3, LANES)
    traced = make_fx(vmap(gradients(stacked_recurrence)), tracing_mode="fake")(*at)
    names = [str(node.target) for node in traced.graph.nodes]
    assert [names.count(f"superfed.lstm_lanes{way}.default") for way in ("", "_backward")] == [1, 1]
