"""Chains of layers run by hand give the gradients that autograd gives, of all parameters or of some."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from superfed.core.chain import Chain, cross_entropy
from superfed.core.flat import FlatNetwork, picked
from superfed.core.loops import Loops, loops
from superfed.core.vector import VectorModel

CHAINS: dict[str, Callable[[], nn.Module]] = {
    "strides": lambda: nn.Sequential(
        nn.Conv2d(2, 4, 3, stride=2, padding=1, bias=False), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)
    ),
    "groups": lambda: nn.Sequential(
        nn.Conv2d(2, 4, (3, 1), groups=2, dilation=(2, 1)),
        nn.MaxPool2d(3, 2, 1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32, 3),
    ),
    "many channels": lambda: nn.Sequential(
        nn.Conv2d(2, 9, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(9, 3)
    ),
    "pool first": lambda: nn.Sequential(nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32, 5), nn.ReLU(), nn.Linear(5, 3)),
    "relu first": lambda: nn.Sequential(nn.ReLU(), nn.Sequential(nn.Flatten(), nn.Linear(128, 3, bias=False))),
}
NO_CHAINS: dict[str, Callable[[], nn.Module]] = {
    "another layer": lambda: nn.Sequential(nn.Flatten(), nn.Linear(128, 4), nn.Tanh(), nn.Linear(4, 3)),
    "dropout": lambda: nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(128, 3)),
    "reflection": lambda: nn.Sequential(
        nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect"), nn.Flatten(), nn.Linear(128, 3)
    ),
    "same": lambda: nn.Sequential(nn.Conv2d(2, 2, 3, padding="same"), nn.Flatten(), nn.Linear(128, 3)),
    "a frozen layer": lambda: _frozen(nn.Sequential(nn.Flatten(), nn.Linear(128, 4), nn.ReLU(), nn.Linear(4, 3))),
    "a layer in two places": lambda: _twice(),
    "a hook": lambda: _hooked(nn.Sequential(nn.Flatten(), nn.Linear(128, 3))),
}


def _frozen(module: nn.Sequential) -> nn.Module:
    module[1].requires_grad_(False)
    return module


def _twice() -> nn.Module:
    same = nn.Linear(4, 4)
    return nn.Sequential(nn.Flatten(), nn.Linear(128, 4), same, nn.ReLU(), same, nn.Linear(4, 3))


def _hooked(module: nn.Module) -> nn.Module:
    next(module.children()).register_forward_hook(lambda module, inputs, output: output * 2)
    return module


def compiled() -> Loops:
    pytest.importorskip("numba")
    return loops()


MEMORY = [torch.contiguous_format, torch.channels_last]


def batch(memory: torch.memory_format) -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(6, 2, 8, 8, generator=rng, dtype=torch.float64).contiguous(memory_format=memory)
    return x, torch.randint(0, 3, (6,), generator=rng)


def by_autograd(model: VectorModel, w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    at = w.clone().requires_grad_()
    torch.manual_seed(0)
    (gradient,) = torch.autograd.grad(nn.functional.cross_entropy(model.apply(at, x.clone(), training=True), y), at)
    return gradient


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("chain", [True, False])
@pytest.mark.parametrize("memory", MEMORY)
def test_gradients_are_those_of_autograd(chain: bool, memory: torch.memory_format, quick: bool) -> None:
    x, y = batch(memory)
    for name, build in (CHAINS if chain else NO_CHAINS).items():
        model = VectorModel(build, dtype=torch.float64)
        network = FlatNetwork(model, compiled() if quick else None)
        assert (network._chain is not None) == chain, name
        w = model.fresh(1)
        network.w.copy_(w)
        with torch.random.fork_rng():
            expected = by_autograd(model, w, x, y)
            torch.manual_seed(0)
            found = network.stretch().gradients(x.clone(), y)
        assert torch.allclose(torch.cat(list(found)), expected, rtol=0, atol=1e-12), name


@pytest.mark.parametrize("memory", MEMORY)
def test_some_gradients_are_as_those_of_all(memory: torch.memory_format) -> None:
    x, y = batch(memory)
    for name, build in {**CHAINS, "no chain": NO_CHAINS["another layer"]}.items():
        model = VectorModel(build, dtype=torch.float64)
        network, w = FlatNetwork(model), model.fresh(1)
        network.w.copy_(w)
        expected = by_autograd(model, w, x, y)
        for layer in model.layers:
            stretch = network.stretch(layer.slice)
            found = torch.cat(list(stretch.gradients(x.clone(), y)))
            assert torch.allclose(found, expected[layer.slice], rtol=0, atol=1e-12), (name, layer)
            settled, onward = stretch.settle(x.clone(), at_once=4)
            again = torch.cat(list(onward.gradients(settled.clone(), y)))
            assert torch.allclose(again, expected[layer.slice], rtol=0, atol=1e-12), (name, layer)


def test_what_is_settled_is_not_computed_again() -> None:
    model = VectorModel(CHAINS["pool first"], dtype=torch.float64)
    network = FlatNetwork(model)
    settled, _ = network.stretch(model.layers[-1].slice).settle(batch(torch.contiguous_format)[0], at_once=4)
    assert settled.shape == (6, 5)


def test_what_would_take_too_much_memory_is_not_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("superfed.core.flat.MOST_BYTES", 6 * 5 * 8 - 1)
    model = VectorModel(CHAINS["pool first"], dtype=torch.float64)
    x, _ = batch(torch.contiguous_format)
    stretch = FlatNetwork(model).stretch(model.layers[-1].slice)
    assert stretch.settle(x, at_once=4) == (x, stretch)


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("memory", MEMORY)
def test_picked_samples_lie_as_all_do(memory: torch.memory_format, channels: int) -> None:
    x = torch.empty(5, channels, 3, 4).copy_(torch.randn(5, channels, 3, 4))
    x = torch.empty_like(x, memory_format=memory).copy_(x)
    rows = torch.tensor([3, 0, 3])
    assert torch.equal(picked(x, rows), x[rows])
    assert picked(x, rows).stride() == x[:3].stride()
    assert torch.equal(picked(x[:, 0, 0], rows), x[rows, 0, 0])


def test_the_compiled_loss_is_torchs() -> None:
    scores = 3 * torch.randn(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    y = torch.tensor([0, 3, 3, 1, 2])
    slope = torch.empty_like(scores)
    loss = compiled().cross_entropy(scores.numpy(), y.numpy(), slope.numpy())
    expected, expected_slope = cross_entropy(scores, y)
    assert loss == pytest.approx(float(expected), abs=1e-14)
    torch.testing.assert_close(slope, expected_slope, rtol=0, atol=1e-15)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_the_compiled_loss_hides_nothing(wrong: float) -> None:
    scores = torch.zeros(2, 3)
    scores[1, 2] = wrong
    slope = torch.empty_like(scores)
    assert compiled().cross_entropy(scores.numpy(), torch.tensor([0, 1]).numpy(), slope.numpy()) != 0.0
    assert not torch.isfinite(slope).all()


def test_a_module_without_layers_is_no_chain() -> None:
    assert Chain.of(nn.Sequential(), {}) is None


@pytest.mark.parametrize("label", [-1, 3])
def test_the_compiled_loss_refuses_classes_that_are_not_there(label: int) -> None:
    scores = torch.zeros(1, 3)
    with pytest.raises(IndexError):
        compiled().cross_entropy(scores.numpy(), torch.tensor([label]).numpy(), scores.clone().numpy())
