"""Fresh initialisations: decided by a key alone, and as the model's author wrote them."""

import pytest
import torch
from torch import Tensor, nn

from superfed.core.errors import UserError
from superfed.core.inspect import reset
from superfed.core.vector import ModelSource, VectorModel


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3), nn.Linear(3, 2))


class Own(nn.Module):
    """A module with an initialisation of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.table = nn.Parameter(torch.empty(3))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.uniform_(self.table, 5, 6)

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.linear(x) * self.table[:2]
        return scores


SOURCES: list[ModelSource] = [network, network()]


@pytest.mark.parametrize("source", SOURCES, ids=["function", "module"])
def test_the_key_alone_decides(source: ModelSource) -> None:
    model = VectorModel(source)
    torch.manual_seed(1)
    one = model.fresh(7)
    torch.manual_seed(2)
    assert torch.equal(model.fresh(7), one)
    assert torch.equal(VectorModel(source).fresh(7), one)
    others = [model.fresh(key) for key in (0, 6, 8, 2**31 + 7, 2**127 + 9)]
    assert len({tuple(w.tolist()) for w in [one, *others]}) == 6


@pytest.mark.parametrize("source", SOURCES, ids=["function", "module"])
def test_torchs_own_random_state_is_left_as_it_was(source: ModelSource) -> None:
    before = torch.random.get_rng_state()
    VectorModel(source).fresh(3)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("key", [0, 11, 2**63 - 1, 2**100 + 5])
def test_a_function_initialises_as_under_a_manual_seed(key: int) -> None:
    model = VectorModel(network)
    torch.manual_seed(key % 2**63)
    assert torch.equal(model.fresh(key), model.flatten(network()))


def test_a_module_is_reset_layer_by_layer() -> None:
    given = network()
    model = VectorModel(given)
    torch.manual_seed(4)
    for part in (given[0], given[1], given[2]):  # type: ignore[index]
        part.reset_parameters()
    assert torch.equal(model.fresh(4), model.flatten(given))


def test_a_modules_own_reset_parameters_is_used() -> None:
    model = VectorModel(Own())
    table = model.fresh(0)[:3]
    assert ((table >= 5) & (table <= 6)).all()
    assert not torch.equal(model.fresh(1)[:3], table)


def test_a_reset_leaves_frozen_parameters_alone() -> None:
    module = nn.Linear(3, 2)
    module.bias.requires_grad_(False)
    weight, bias = module.weight.detach().clone(), module.bias.detach().clone()
    reset(module)
    assert torch.equal(module.bias, bias)
    assert not torch.equal(module.weight, weight)


def test_a_module_keeps_its_weights_as_the_start_and_a_function_has_none() -> None:
    module = network()
    model = VectorModel(module)
    assert model.start is not None
    assert torch.equal(model.start, torch.cat([p.detach().reshape(-1) for p in module.parameters()]))
    assert not torch.equal(model.start, model.fresh(0))
    assert VectorModel(network).start is None


def test_what_becomes_of_the_given_module_does_not_matter() -> None:
    module = network()
    model = VectorModel(module)
    assert model.start is not None
    start, fresh = model.start.clone(), model.fresh(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(9.0).requires_grad_(False)
    assert torch.equal(model.start, start)
    assert torch.equal(model.fresh(0), fresh)
    assert module.training


def test_the_given_module_is_left_as_it_was() -> None:
    module = network().eval()
    before = [p.detach().clone() for p in module.parameters()]
    model = VectorModel(module)
    model.apply(model.fresh(0), torch.ones(2, 4), training=True)
    assert not module.training
    assert all(torch.equal(p, b) for p, b in zip(module.parameters(), before, strict=True))


def test_a_function_that_builds_nothing_new_is_refused() -> None:
    always = network()
    model = VectorModel(lambda: always)
    with pytest.raises(UserError) as caught:
        model.fresh(0)
    assert str(caught.value) == ("model: the function given returns the same module every time; let it build a new one")
