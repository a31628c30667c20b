"""The zoo: parameter counts of the cited originals and of the published variants, and what a network is refused for."""

from collections.abc import Callable
from math import prod, sqrt
from typing import Any

import pytest
import torch
from torch import nn

from superfed.core.errors import SettingError
from superfed.core.vector import VectorModel
from superfed.experiments.strict import build
from superfed.models import MODELS, ModelRecipe, TwoCNN, TwoNN

RUN_NN = TwoNN(hidden_layers=3, bias=False, init="xavier_normal")
RUN_CNN = TwoCNN(padding=1, pool_padding=1, hidden_layers=2, width=200, bias=False, init="xavier_normal")


def vector(recipe: ModelRecipe, input_shape: tuple[int, ...], num_classes: int = 10) -> VectorModel:
    return VectorModel(recipe.builder(input_shape, num_classes), head=recipe.head)


@pytest.mark.parametrize(
    ("recipe", "input_shape", "parameters"),
    [
        (TwoNN(), (1, 28, 28), 199_210),
        (TwoNN(), (784,), 199_210),
        (RUN_NN, (1, 28, 28), 238_800),
        (TwoCNN(), (1, 28, 28), 1_663_370),
        (TwoCNN(), (3, 32, 32), 2_156_490),
        (RUN_CNN, (3, 28, 28), 722_800),
    ],
)
def test_parameter_counts(recipe: ModelRecipe, input_shape: tuple[int, ...], parameters: int) -> None:
    assert vector(recipe, input_shape).size == parameters


@pytest.mark.parametrize("recipe", [TwoNN(), RUN_NN, TwoCNN(), RUN_CNN, TwoNN(width=1), TwoCNN(channels=1, padding=4)])
@pytest.mark.parametrize("input_shape", [(1, 16, 16), (3, 17, 20)])
@pytest.mark.parametrize("num_classes", [2, 62])
def test_the_output_is_one_score_per_class(recipe: ModelRecipe, input_shape: tuple[int, ...], num_classes: int) -> None:
    vector(recipe, input_shape, num_classes).check_forward(torch.rand(2, *input_shape), num_classes)


@pytest.mark.parametrize(
    ("recipe", "layers", "classifier"),
    [
        (TwoNN(), ["features.1", "features.3", "classifier"], 200 * 10 + 10),
        (RUN_NN, ["features.1", "features.3", "features.5", "classifier"], 200 * 10),
        (TwoCNN(), ["features.0", "features.3", "classifier.0", "classifier.2"], 3136 * 512 + 512 + 512 * 10 + 10),
        (
            RUN_CNN,
            ["features.0", "features.3", "classifier.0", "classifier.2", "classifier.4"],
            722_800 - 1 * 32 * 25 - 32 * 64 * 25 - 2 * 32 * 25,
        ),
    ],
)
def test_the_head_is_the_classifier_block(recipe: ModelRecipe, layers: list[str], classifier: int) -> None:
    model = vector(recipe, (1, 28, 28))
    assert [layer.name for layer in model.layers] == layers
    assert model.head.stop - model.head.start == classifier
    assert model.head.start == next(layer.start for layer in model.layers if layer.name.startswith("classifier"))


def test_a_recipe_may_name_another_head() -> None:
    model = vector(TwoCNN(head="classifier.2"), (1, 28, 28))
    assert model.head.stop - model.head.start == 512 * 10 + 10


@pytest.mark.parametrize("recipe", [TwoNN(init="xavier_normal"), TwoCNN(init="xavier_normal")])
def test_xavier_normal_weights_and_zero_biases(recipe: ModelRecipe) -> None:
    torch.manual_seed(0)
    for name, parameter in recipe.build((1, 28, 28), 10).named_parameters():
        if name.endswith("bias"):
            assert parameter.abs().sum() == 0
            continue
        outputs, inputs, *kernel = parameter.shape
        deviation = sqrt(2 / (prod(kernel) * (inputs + outputs)))
        tolerance = 5 / sqrt(parameter.numel())  # five standard errors
        assert parameter.std().item() == pytest.approx(deviation, rel=tolerance)
        assert parameter.mean().item() == pytest.approx(0, abs=tolerance * deviation)
        assert parameter.abs().max() > 2.5 * deviation  # no uniform draw reaches so far


@pytest.mark.parametrize("recipe", [TwoNN(), TwoCNN()])
def test_the_default_initialisation_is_torchs_own(recipe: ModelRecipe) -> None:
    network = recipe.build((1, 28, 28), 10)
    first = next(part for part in network.modules() if isinstance(part, nn.Linear | nn.Conv2d))
    bound = 1 / sqrt(first.weight[0].numel())
    assert first.weight.abs().max().item() == pytest.approx(bound, rel=0.02)
    assert first.bias is not None
    assert 0 < first.bias.abs().max() <= bound


def test_a_network_without_biases_has_none() -> None:
    for recipe in (RUN_NN, RUN_CNN):
        names = [name for name, _ in recipe.build((1, 28, 28), 10).named_parameters()]
        assert all(name.endswith("weight") for name in names)


@pytest.mark.parametrize("input_shape", [(784,), (28, 28), (1, 2, 28, 28)])
def test_two_cnn_takes_images_only(input_shape: tuple[int, ...]) -> None:
    with pytest.raises(SettingError) as caught:
        TwoCNN().build(input_shape, 10)
    assert str(caught.value) == (
        f"name: two_cnn takes images (channels, height, width), and the inputs are {input_shape}"
    )


@pytest.mark.parametrize(
    ("padding", "pool_padding", "least"),
    [(0, 0, 16), (1, 0, 10), (2, 0, 4), (3, 0, 1), (0, 1, 12), (1, 1, 6), (2, 1, 1), (4, 1, 1)],
)
def test_images_are_large_enough_or_refused(padding: int, pool_padding: int, least: int) -> None:
    recipe = TwoCNN(channels=1, width=1, padding=padding, pool_padding=pool_padding)
    for side in (least, least + 1, least + 2):
        vector(recipe, (1, side, 20)).check_forward(torch.zeros(1, 1, side, 20), 10)
    for side in range(1, least):
        with pytest.raises(SettingError) as caught:
            recipe.build((1, side, 20), 10)
        assert str(caught.value) == f"name: two_cnn needs larger images than {side}×20"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: TwoNN(hidden_layers=0), "hidden_layers: must be 1 or more, not 0"),
        (lambda: TwoNN(width=-1), "width: must be 1 or more, not -1"),
        (lambda: TwoCNN(channels=0), "channels: must be 1 or more, not 0"),
        (lambda: TwoCNN(hidden_layers=0), "hidden_layers: must be 1 or more, not 0"),
        (lambda: TwoCNN(width=0), "width: must be 1 or more, not 0"),
        (lambda: TwoCNN(padding=5), "padding: must be from 0 to 4, not 5"),
        (lambda: TwoCNN(padding=-1), "padding: must be from 0 to 4, not -1"),
        (lambda: TwoCNN(pool_padding=2), "pool_padding: must be 0 or 1, not 2"),
    ],
)
def test_a_bad_field_is_a_sentence(make: Callable[[], ModelRecipe], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        make()
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"layers": 3}, "layers: unknown; did you mean 'hidden_layers'?"),
        ({"dropout": 0.1}, "dropout: unknown; here there are head, hidden_layers, width, bias, init"),
        ({"init": "xavier"}, "init: must be 'default' or 'xavier_normal', not 'xavier'"),
        ({"bias": 0}, "bias: must be true or false, not 0"),
    ],
)
def test_an_unknown_field_is_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        build(TwoNN, settings)
    assert str(caught.value) == sentence


def test_recipes_are_equal_by_their_fields_and_every_build_is_new() -> None:
    assert TwoNN(width=5) == TwoNN(width=5) != TwoNN(width=6)
    assert len({TwoNN(), TwoNN(), TwoCNN()}) == 2
    builder = TwoNN().builder((4,), 2)
    assert builder() is not builder()
    assert set(MODELS) >= {"two_nn", "two_cnn"}
