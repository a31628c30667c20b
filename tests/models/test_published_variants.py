"""The published runs' variants: each docstring's settings, as a config would give them, have the parameters it says."""

import re
from math import prod, sqrt
from typing import Any

import pytest
import torch
import yaml
from torch import nn

from superfed.core.norm import BatchNorm
from superfed.core.vector import VectorModel
from superfed.experiments.strict import build, plain
from superfed.models import MODELS, ModelRecipe

PUBLISHED: dict[str, tuple[tuple[int, ...], int, int]] = {
    "two_nn": ((1, 28, 28), 10, 238_800),
    "two_cnn": ((3, 28, 28), 10, 722_800),
    "resnet": ((3, 32, 32), 100, 5_054_784),
    "mobilenet": ((3, 64, 64), 200, 364_480),
    "vgg": ((1, 28, 28), 62, 1_718_416),
    "stacked_lstm": ((80,), 100, 821_024),
}
"""The inputs, the classes and the parameters."""

every_variant = pytest.mark.parametrize("name", PUBLISHED)


def documented(name: str) -> tuple[dict[str, Any], int]:
    """The settings and the parameters that the recipe's docstring gives for the published runs."""
    found = re.search(
        r"published\s+SuPerFed\s+runs\s+used\s+``(.*?)``:\s+([\d,]+)", MODELS[name].__doc__ or "", re.DOTALL
    )
    assert found, "the docstring does not say what the published runs used"
    return eval(f"dict({found[1]})"), int(found[2].replace(",", ""))


def published(name: str) -> ModelRecipe:
    """By way of YAML, so that a config file can say the same."""
    settings = yaml.safe_load(yaml.safe_dump(documented(name)[0]))
    recipe: ModelRecipe = build(MODELS[name], settings)
    return recipe


def norm_biases(network: nn.Module) -> set[str]:
    norms = (name for name, part in network.named_modules() if isinstance(part, BatchNorm))
    return {f"{name}.bias" for name in norms}


@every_variant
def test_its_parameters_are_the_published_number(name: str) -> None:
    input_shape, num_classes, parameters = PUBLISHED[name]
    model = VectorModel(published(name).builder(input_shape, num_classes))
    assert model.size == documented(name)[1] == parameters


@every_variant
def test_its_settings_survive_a_config_file(name: str) -> None:
    recipe = published(name)
    assert build(MODELS[name], yaml.safe_load(yaml.safe_dump(plain(recipe)))) == recipe
    assert recipe != MODELS[name]()


@every_variant
def test_it_has_no_biases_but_those_of_normalisations(name: str) -> None:
    input_shape, num_classes, _ = PUBLISHED[name]
    network = published(name).build(input_shape, num_classes)
    biases = {parameter for parameter, _ in network.named_parameters() if "bias" in parameter}
    assert biases == norm_biases(network)
    assert bool(biases) == (name in ("resnet", "mobilenet"))


@every_variant
def test_its_weights_are_xavier_normal_and_its_norms_begin_at_one(name: str) -> None:
    input_shape, num_classes, _ = PUBLISHED[name]
    torch.manual_seed(0)
    for parameter, value in published(name).build(input_shape, num_classes).named_parameters():
        if value.dim() == 1:
            assert torch.equal(value, torch.full_like(value, 0.0 if parameter.endswith("bias") else 1.0))
            continue
        outputs, inputs, *kernel = value.shape
        deviation = sqrt(2 / (prod(kernel) * (inputs + outputs)))
        tolerance = 5 / sqrt(value.numel())  # five standard errors
        assert value.std().item() == pytest.approx(deviation, rel=tolerance)
        assert value.mean().item() == pytest.approx(0, abs=tolerance * deviation)
        assert value.abs().max() > 2 * deviation  # no uniform draw reaches so far


@every_variant
@pytest.mark.parametrize("biased", [True, False])
def test_xavier_biases_are_zero(name: str, biased: bool) -> None:
    recipe = build(MODELS[name], {"init": "xavier_normal", "bias": biased})
    input_shape, num_classes, _ = PUBLISHED[name]
    network = recipe.build(input_shape, num_classes)
    biases = {parameter: value for parameter, value in network.named_parameters() if "bias" in parameter}
    assert bool(biases.keys() - norm_biases(network)) == biased
    assert all(value.abs().sum() == 0 for value in biases.values())


@every_variant
def test_a_fresh_start_is_decided_by_its_key(name: str) -> None:
    input_shape, num_classes, _ = PUBLISHED[name]
    one, other = (VectorModel(published(name).builder(input_shape, num_classes)) for _ in range(2))
    assert torch.equal(one.fresh(5), other.fresh(5))
    assert not torch.equal(one.fresh(5), one.fresh(6))
