"""How the vector is cut: layers in order, and where the head begins."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from superfed.core.errors import SettingError
from superfed.core.vector import Layer, VectorModel


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.norm(self.linear(x))
        return out


class Nested(nn.Module):
    """Blocks inside blocks, and a parameter of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.blocks = nn.ModuleList([Block(3), Block(3)])
        self.classifier = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))

    def forward(self, x: Tensor) -> Tensor:
        x = x * self.scale
        for block in self.blocks:
            x = block(x)
        scores: Tensor = self.classifier(x)
        return scores


class Headed(Nested):
    head_name = "classifier"


class Misnamed(Nested):
    head_name = "output"


def names(model: VectorModel) -> list[str]:
    return [layer.name for layer in model.layers]


def test_layers_come_in_order_and_cover_the_vector_once() -> None:
    model = VectorModel(Nested)
    assert names(model) == [
        "(model)",
        "blocks.0.linear",
        "blocks.0.norm",
        "blocks.1.linear",
        "blocks.1.norm",
        "classifier.0",
        "classifier.2",
    ]
    assert model.layers[0].start == 0
    assert model.layers[-1].stop == model.size
    assert all(before.stop == after.start for before, after in pairwise(model.layers))
    assert [layer.size for layer in model.layers] == [3, 12, 6, 12, 6, 16, 10]
    assert [layer.slice for layer in model.layers][:2] == [slice(0, 3), slice(3, 15)]


def test_weight_and_bias_of_a_layer_are_together() -> None:
    first, last = nn.Linear(2, 3), nn.Linear(3, 1)
    module = nn.Sequential(first, nn.Tanh(), last)
    model = VectorModel(module)
    w = model.flatten(module)
    for layer, linear in zip(model.layers, [first, last], strict=True):
        own = torch.cat([linear.weight.detach().reshape(-1), linear.bias.detach()])
        assert torch.equal(w[layer.slice], own)


def test_an_lstm_is_one_layer() -> None:
    model = VectorModel(lambda: nn.ModuleDict({"lstm": nn.LSTM(4, 5, num_layers=2), "out": nn.Linear(5, 2)}))
    per_layer = [4 * 5 * (inputs + 5 + 2) for inputs in (4, 5)]
    assert model.layers == (
        Layer("lstm", 0, sum(per_layer)),
        Layer("out", sum(per_layer), sum(per_layer) + 12),
    )


@pytest.mark.parametrize("norm", [nn.LayerNorm(3), nn.GroupNorm(1, 3), nn.BatchNorm1d(3, track_running_stats=False)])
def test_a_normalisation_layer_is_a_layer(norm: nn.Module) -> None:
    model = VectorModel(nn.Sequential(nn.Linear(2, 3), norm, nn.Linear(3, 1)))
    assert [(layer.name, layer.size) for layer in model.layers] == [("0", 9), ("1", 6), ("2", 4)]


def test_one_number_per_layer_is_spread_over_its_parameters() -> None:
    model = VectorModel(nn.Sequential(nn.Linear(1, 2), nn.Linear(2, 1)))
    assert model.layer_of.tolist() == [0] * 4 + [1] * 3
    assert torch.tensor([0.25, 0.75])[model.layer_of].tolist() == [0.25] * 4 + [0.75] * 3


@pytest.mark.parametrize(
    ("kind", "head", "first"),
    [
        (Nested, None, "classifier.2"),
        (Nested, "classifier", "classifier.0"),
        (Nested, "classifier.2", "classifier.2"),
        (Nested, "blocks.1", "blocks.1.linear"),
        (Nested, "blocks", "blocks.0.linear"),
        (Nested, "(model)", "(model)"),
        (Headed, None, "classifier.0"),
        (Headed, "classifier.2", "classifier.2"),
        (Misnamed, "classifier", "classifier.0"),
    ],
)
def test_the_head_runs_from_its_first_layer_to_the_end(kind: type[nn.Module], head: str | None, first: str) -> None:
    model = VectorModel(kind, head=head)
    start = next(layer.start for layer in model.layers if layer.name == first)
    assert (model.body, model.head) == (slice(0, start), slice(start, model.size))


def test_the_head_of_a_single_layer_is_all_of_it() -> None:
    model = VectorModel(lambda: nn.Linear(3, 2))
    assert names(model) == ["(model)"]
    assert (model.body, model.head) == (slice(0, 0), slice(0, 8))


@pytest.mark.parametrize(
    ("kind", "head", "asked"),
    [(Nested, "clas", "clas"), (Nested, "classifier.1", "classifier.1"), (Misnamed, None, "output"), (Nested, "", "")],
)
def test_an_unknown_head_is_a_sentence_that_names_the_layers(
    kind: type[nn.Module], head: str | None, asked: str
) -> None:
    with pytest.raises(SettingError) as caught:
        VectorModel(kind, head=head)
    assert str(caught.value) == (
        f"head: the model has no layer '{asked}'; its layers are (model), blocks.0.linear, blocks.0.norm, "
        "blocks.1.linear, blocks.1.norm, classifier.0, classifier.2"
    )
