"""VGG: the counts of VGG-9, and what its layers' text means."""

from itertools import pairwise

import pytest
import torch
from torch import nn

from superfed.core.vector import VectorModel
from superfed.models import VGG


def by_hand(convolutions: list[int], connected: list[int], *, bias: bool) -> int:
    """The sizes from layer to layer, inputs first."""
    total = sum(9 * inputs * outputs + bias * outputs for inputs, outputs in pairwise(convolutions))
    return total + sum(inputs * outputs + bias * outputs for inputs, outputs in pairwise(connected))


@pytest.mark.parametrize(
    ("input_shape", "pixels", "num_classes"), [((3, 32, 32), 16, 10), ((1, 28, 28), 9, 62), ((3, 64, 40), 40, 5)]
)
def test_parameter_counts_of_the_original(input_shape: tuple[int, ...], pixels: int, num_classes: int) -> None:
    model = VectorModel(VGG().builder(input_shape, num_classes))
    convolutions = [input_shape[0], 32, 64, 128, 128, 256, 256]
    assert model.size == by_hand(convolutions, [256 * pixels, 512, 512, num_classes], bias=True)
    if input_shape == (3, 32, 32):
        assert model.size == 3_491_530


def test_the_variants_count_by_hand() -> None:
    assert by_hand([1, 16, 32, 64, 128, 256, 512], [512, 256, 62], bias=False) == 1_718_416


def test_its_layers_are_in_order() -> None:
    model = VectorModel(VGG().builder((3, 32, 32), 10))
    convolutions = [f"features.{i}" for i in (0, 2, 5, 7, 10, 12)]
    assert [layer.name for layer in model.layers] == [*convolutions, "classifier.0", "classifier.2", "classifier.4"]
    assert model.head.stop - model.head.start == 4096 * 512 + 512 + 512 * 512 + 512 + 512 * 10 + 10


def test_the_layers_text_says_what_is_built() -> None:
    network = VGG(layers="4 pool 5 6", hidden_layers=0).build((3, 9, 11), 10)
    assert isinstance(network.features, nn.Sequential)
    kinds = [type(part).__name__ for part in network.features]
    assert kinds == ["Conv2d", "ReLU", "MaxPool2d", "Conv2d", "ReLU", "Conv2d", "ReLU", "Flatten"]
    assert network.features(torch.zeros(2, 3, 9, 11)).shape == (2, 6 * 4 * 5)
