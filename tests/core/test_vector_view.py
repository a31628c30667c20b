"""The vector view computes what the module computes, with every parameter in its place."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from superfed.core.errors import UserError
from superfed.core.vector import VectorModel, Weights
from superfed.models import StackedLSTM

Built = tuple[Callable[[], nn.Module], tuple[int, ...]]


def perceptron(widths: Sequence[int], bias: bool) -> nn.Module:
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs, bias=bias), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def convolutional(channels: Sequence[int], kernel: int, side: int) -> nn.Module:
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(channels):
        layers += [nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2), nn.GroupNorm(1, outputs), nn.ReLU()]
    out = side if kernel % 2 else side + len(channels) - 1
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels[-1] * out * out, 3))


@st.composite
def networks(draw: st.DrawFn) -> Built:
    """A function that builds a small network, and the shape of its inputs."""
    if draw(st.booleans()):
        widths = draw(st.lists(st.integers(1, 6), min_size=2, max_size=4))
        bias = draw(st.booleans())
        return lambda: perceptron(widths, bias), (widths[0],)
    channels = draw(st.lists(st.integers(1, 3), min_size=2, max_size=3))
    kernel, side = draw(st.integers(1, 3)), draw(st.integers(3, 5))
    return lambda: convolutional(channels, kernel, side), (channels[0], side, side)


class Tied(nn.Module):
    """A decoder that is the embedding read backwards."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 3)
        self.decoder = nn.Linear(3, 5)
        self.decoder.weight = self.embedding.weight

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.decoder(self.embedding(x).mean(dim=1))
        return scores


def inputs(shape: tuple[int, ...], count: int = 4) -> Tensor:
    return torch.randn(count, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@given(network=networks(), key=st.integers(0, 2**128 - 1))
@settings(deadline=None, max_examples=40)
def test_a_vector_becomes_a_module_and_back(network: Built, key: int) -> None:
    model = VectorModel(network[0])
    w = model.fresh(key)
    assert w.shape == (model.size,)
    assert torch.equal(model.flatten(model.module(w)), w)
    named = model.unflatten(w)
    assert {name: p.shape for name, p in named.items()} == {n: p.shape for n, p in network[0]().named_parameters()}
    assert torch.equal(torch.cat([p.reshape(-1) for p in named.values()]), w)


@given(network=networks(), key=st.integers(0, 2**128 - 1), training=st.booleans())
@settings(deadline=None, max_examples=40)
def test_apply_is_the_modules_own_forward(network: Built, key: int, training: bool) -> None:
    build, shape = network
    model = VectorModel(build, dtype=torch.float64)
    w, x = model.fresh(key), inputs(shape)
    module = model.module(w)
    assert torch.equal(model.apply(w, x, training=training), module(x))


@given(network=networks(), key=st.integers(0, 2**128 - 1), data=st.data())
@settings(deadline=None, max_examples=40)
def test_a_vector_may_come_in_stretches(network: Built, key: int, data: st.DataObject) -> None:
    build, shape = network
    model = VectorModel(build, dtype=torch.float64)
    w, x = model.fresh(key), inputs(shape)
    starts = sorted(data.draw(st.sets(st.sampled_from([layer.start for layer in model.layers] + [model.size]))) | {0})
    stretches = tuple(torch.tensor_split(w, starts[1:]))

    def sum_of(at: Weights) -> Tensor:
        return model.apply(at, x, training=True).square().sum()

    assert torch.equal(sum_of(stretches), sum_of(w))
    chosen = data.draw(st.integers(0, len(stretches) - 1))

    def sum_by_one(one: Tensor) -> Tensor:
        return sum_of((*stretches[:chosen], one, *stretches[chosen + 1 :]))

    by_one = torch.func.grad(sum_by_one)(stretches[chosen])
    by_all = torch.tensor_split(torch.func.grad(sum_of)(w), starts[1:])
    torch.testing.assert_close(by_one, by_all[chosen], rtol=1e-12, atol=1e-12)


@given(network=networks(), key=st.integers(0, 2**128 - 1))
@settings(deadline=None, max_examples=40)
def test_the_gradient_of_apply_is_the_modules_own(network: Built, key: int) -> None:
    build, shape = network
    model = VectorModel(build, dtype=torch.float64)
    w, x = model.fresh(key).requires_grad_(), inputs(shape)
    module = model.module(w.detach())
    (ours,) = torch.autograd.grad(model.apply(w, x, training=True).square().sum(), w)
    theirs = torch.autograd.grad(module(x).square().sum(), list(module.parameters()))
    torch.testing.assert_close(ours, torch.cat([g.reshape(-1) for g in theirs]), rtol=1e-12, atol=1e-12)


def test_a_module_shares_nothing_with_the_vector_it_came_from() -> None:
    model = VectorModel(lambda: nn.Linear(3, 2))
    w = model.fresh(0)
    module = model.module(w)
    before = w.clone()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
    assert torch.equal(w, before)
    assert model.flatten(module).abs().sum() == 0
    assert not torch.equal(model.flatten(model.module(w)), model.flatten(module))


def test_flattening_copies() -> None:
    module = nn.Linear(3, 1, bias=False)
    w = VectorModel(module).flatten(module)
    with torch.no_grad():
        module.weight.zero_()
    assert w.abs().sum() > 0
    assert not w.requires_grad


@pytest.mark.parametrize("shape", [(7,), (9,), (2, 4), ()])
def test_a_module_needs_a_vector_of_its_size(shape: tuple[int, ...]) -> None:
    model = VectorModel(lambda: nn.Linear(3, 2))
    with pytest.raises(UserError) as caught:
        model.module(torch.zeros(shape))
    assert str(caught.value) == f"model: 8 parameters are needed, {shape} were given"


def test_a_module_for_use_is_in_evaluation_mode() -> None:
    model = VectorModel(lambda: nn.Sequential(nn.Linear(3, 50), nn.Dropout(0.5), nn.Linear(50, 2)))
    w, x = model.fresh(0), torch.ones(2, 3)
    module = model.module(w)
    assert not any(part.training for part in module.modules())
    assert torch.equal(module(x), model.apply(w, x))
    assert not torch.equal(model.apply(w, x, training=True), model.apply(w, x, training=True))


def test_tied_weights_appear_once() -> None:
    model = VectorModel(Tied, dtype=torch.float64)
    assert model.size == 5 * 3 + 5
    assert [(layer.name, layer.size) for layer in model.layers] == [("embedding", 15), ("decoder", 5)]
    module = model.module(model.fresh(0))
    assert module.get_parameter("decoder.weight") is module.get_parameter("embedding.weight")


@pytest.mark.parametrize("source", [Tied, Tied()], ids=["function", "module"])
def test_tied_weights_count_in_both_places(source: nn.Module | Callable[[], nn.Module]) -> None:
    model = VectorModel(source, dtype=torch.float64)
    w, x = model.fresh(5).requires_grad_(), torch.tensor([[0, 1], [4, 4]])
    table, bias = w[:15].view(5, 3), w[15:]
    by_hand = F.linear(F.embedding(x, table).mean(dim=1), table, bias)
    output = model.apply(w, x)
    assert torch.equal(output, by_hand)
    (ours,) = torch.autograd.grad(output.square().sum(), w, retain_graph=True)
    (expected,) = torch.autograd.grad(by_hand.square().sum(), w)
    torch.testing.assert_close(ours, expected, rtol=1e-12, atol=1e-12)
    only_embedding = torch.autograd.grad(F.linear(F.embedding(x, table).mean(dim=1), table.detach(), bias).sum(), w)[0]
    assert not torch.allclose(ours, only_embedding)


def test_frozen_parameters_are_outside_the_vector_and_stay() -> None:
    module = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    module[0].requires_grad_(False)
    frozen = [p.detach().clone() for p in module[0].parameters()]
    model = VectorModel(module)
    assert model.size == 3 * 2 + 2
    assert [layer.name for layer in model.layers] == ["2"]
    w, x = model.fresh(3), torch.ones(2, 4)
    hidden = F.linear(x, *frozen).tanh()
    assert torch.equal(model.apply(w, x), F.linear(hidden, w[:6].view(2, 3), w[6:]))
    for kept, now in zip(frozen, model.module(w)[0].parameters(), strict=True):  # type: ignore[index]
        assert torch.equal(kept, now)
        assert not now.requires_grad
    assert all(torch.equal(kept, given) for kept, given in zip(frozen, module[0].parameters(), strict=True))


def test_one_frozen_parameter_of_a_layer() -> None:
    module = nn.Linear(3, 2)
    module.bias.requires_grad_(False)
    model = VectorModel(module)
    w = model.fresh(1)
    assert model.size == 6
    assert torch.equal(model.apply(w, torch.zeros(1, 3))[0], module.bias)
    assert not torch.equal(w, model.flatten(module))


def test_frozen_parameters_of_a_function_are_the_same_every_time() -> None:
    def build() -> nn.Module:
        network = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
        network[0].requires_grad_(False)
        return network

    torch.manual_seed(0)
    one = VectorModel(build)
    torch.manual_seed(1)
    other = VectorModel(build)
    w, x = one.fresh(0), torch.ones(1, 4)
    assert torch.equal(one.apply(w, x), other.apply(w, x))


@pytest.mark.parametrize("as_function", [True, False])
def test_a_float64_module_stays_float64(as_function: bool) -> None:
    model = VectorModel((lambda: nn.Linear(3, 2).double()) if as_function else nn.Linear(3, 2).double())
    w = model.fresh(0)
    assert model.dtype == w.dtype == torch.float64
    assert model.apply(w, torch.ones(1, 3, dtype=torch.float64)).dtype == torch.float64
    assert next(model.module(w).parameters()).dtype == torch.float64


def test_the_precision_asked_for_leaves_the_given_module_alone() -> None:
    module = nn.Linear(3, 2)
    model = VectorModel(module, dtype=torch.float64)
    assert model.dtype == torch.float64
    assert model.fresh(0).dtype == torch.float64
    assert module.weight.dtype == torch.float32


@pytest.mark.parametrize(
    ("module", "batchable"),
    [
        (nn.Linear(2, 2), True),
        (nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.1)), False),
        (nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.0)), True),
        (nn.Sequential(nn.Linear(2, 2), nn.RReLU()), False),
        (nn.LSTM(2, 2, num_layers=2), True),
        (nn.LSTM(2, 2, num_layers=2, dropout=0.1), False),
        (nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2, track_running_stats=False)), True),
        (nn.Sequential(nn.Linear(2, 2), nn.GroupNorm(1, 2)), True),
        (nn.Sequential(nn.Conv2d(2, 2, 1), nn.InstanceNorm2d(2, affine=True)), True),
    ],
)
def test_what_can_be_padded_and_batched(module: nn.Module, batchable: bool) -> None:
    assert VectorModel(module).batchable is batchable


@pytest.mark.parametrize(
    ("module", "recurrent"),
    [
        (nn.Linear(2, 2), False),
        (nn.Sequential(nn.Conv1d(2, 2, 1), nn.Flatten()), False),
        (nn.Sequential(nn.GRU(2, 2)), True),
        (nn.LSTM(2, 2), True),
        (nn.GRUCell(2, 2), True),
        (StackedLSTM(width=4).build((5,), 3), True),
    ],
)
def test_what_takes_one_step_after_another(module: nn.Module, recurrent: bool) -> None:
    assert VectorModel(module).recurrent is recurrent


def test_moving_keeps_the_view() -> None:
    model = VectorModel(lambda: nn.Linear(3, 2))
    moved = model.to(torch.device("meta"))
    assert moved.layer_of.device.type == "meta"
    assert model.layer_of.device.type == "cpu"
    assert (moved.size, moved.layers, moved.head) == (model.size, model.layers, model.head)
