"""ResNet: the counts of He et al. 2016 for CIFAR, its stages and its shortcuts."""

import pytest
import torch
from torch import Tensor, nn

from superfed.core.vector import VectorModel
from superfed.models import ResNet


def by_hand(blocks: int, num_classes: int, projections: bool) -> int:
    """The parameters of a network with so many blocks in each of its stages of 16, 32 and 64 channels."""
    total = 3 * 16 * 9 + 2 * 16
    inputs = 16
    for channels in (16, 32, 64):
        total += inputs * channels * 9 + (2 * blocks - 1) * channels * channels * 9 + 2 * blocks * 2 * channels
        if projections and inputs != channels:
            total += inputs * channels + 2 * channels
        inputs = channels
    return total + 64 * num_classes + num_classes


@pytest.mark.parametrize(
    ("depth", "parameters"), [(20, 269_722), (32, 464_154), (44, 658_586), (56, 853_018), (110, 1_727_962)]
)
def test_parameter_counts_of_the_original(depth: int, parameters: int) -> None:
    """0.27, 0.46, 0.66, 0.85 and 1.7 million in Table 6 of the paper, with shortcuts that have no parameters."""
    model = VectorModel(ResNet(depth=depth).builder((3, 32, 32), 10))
    assert model.size == parameters == by_hand((depth - 2) // 6, 10, projections=False)


def test_projections_have_parameters() -> None:
    model = VectorModel(ResNet(shortcut="projection").builder((3, 32, 32), 100))
    assert model.size == by_hand(3, 100, projections=True) == 272_474 + 90 * 65


def image_sizes(recipe: ResNet, side: int) -> list[tuple[int, ...]]:
    """The channels and the sides of what each of the network's parts puts out, where they change."""
    network = recipe.build((3, side, side), 10)
    x = torch.zeros(1, 3, side, side)
    sizes: list[tuple[int, ...]] = []
    assert isinstance(network.features, nn.Sequential)
    for part in network.features:
        x = part(x)
        if not sizes or tuple(x.shape[1:]) != sizes[-1]:
            sizes.append(tuple(x.shape[1:]))
    return sizes


def test_each_stage_halves_the_image_and_doubles_the_channels() -> None:
    assert image_sizes(ResNet(), 32) == [(16, 32, 32), (32, 16, 16), (64, 8, 8), (64, 1, 1), (64,)]
    run = ResNet(depth=10, stages=4, channels=64, stem_stride=2, stem_pool=True, shortcut="projection")
    halved = [(64, 16, 16), (64, 8, 8), (128, 4, 4), (256, 2, 2), (512, 1, 1), (512,)]
    assert image_sizes(run, 32) == halved
    assert image_sizes(run, 28) == [(64, 14, 14), (64, 7, 7), (128, 4, 4), (256, 2, 2), (512, 1, 1), (512,)]


def test_the_layers_stand_in_the_order_in_which_they_are_used() -> None:
    model = VectorModel(ResNet(depth=6, stages=2, channels=4, shortcut="projection").builder((3, 8, 8), 10))
    assert [layer.name for layer in model.layers] == [
        "features.0",
        "features.1",
        *(f"features.3.change.{i}" for i in (0, 1, 3, 4)),
        *(f"features.4.change.{i}" for i in (0, 1, 3, 4)),
        "features.4.shortcut.0",
        "features.4.shortcut.1",
        "classifier",
    ]
    assert model.head.stop - model.head.start == 8 * 10 + 10


def test_a_padded_shortcut_is_every_second_pixel_and_zeros() -> None:
    network = ResNet(depth=6, stages=2, channels=2, norm="none").build((3, 5, 5), 10)
    assert isinstance(network.features, nn.Sequential)
    block = network.features[3]
    for parameter in block.parameters():
        nn.init.zeros_(parameter)
    x = torch.rand(2, 2, 5, 5)
    out: Tensor = block(x)
    assert torch.equal(out[:, :2], x[:, :, ::2, ::2])
    assert torch.equal(out[:, 2:], torch.zeros(2, 2, 3, 3))


def test_a_block_adds_its_change_to_its_input() -> None:
    network = ResNet(depth=4, stages=1, channels=3, norm="none").build((3, 5, 5), 10).double()
    assert isinstance(network.features, nn.Sequential)
    block = network.features[2]
    first, second = (part for part in block.modules() if isinstance(part, nn.Conv2d))
    x = torch.randn(2, 3, 5, 5, dtype=torch.float64)
    assert torch.allclose(block(x), (second(first(x).clamp_min(0)) + x).clamp_min(0), rtol=0, atol=1e-12)
