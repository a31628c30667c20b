"""MobileNet: the counts of Howard et al. 2017, the width multiplier, and what a separable block is made of."""

import pytest
import torch
from torch import nn

from superfed.core.vector import VectorModel
from superfed.models import MobileNet

BLOCKS = [64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024]


def by_hand(stem: int, blocks: list[int], num_classes: int) -> int:
    """A stem on three channels, then for each block 9 weights a channel, a 1×1 convolution, and their two norms."""
    total = 3 * stem * 9 + 2 * stem
    for inputs, outputs in zip([stem, *blocks[:-1]], blocks, strict=True):
        total += 9 * inputs + 2 * inputs + inputs * outputs + 2 * outputs
    return total + blocks[-1] * num_classes + num_classes


@pytest.mark.parametrize(
    ("multiplier", "parameters"), [(1.0, 4_231_976), (0.75, 2_585_560), (0.5, 1_331_592), (0.25, 470_072)]
)
def test_parameter_counts_of_the_original(multiplier: float, parameters: int) -> None:
    """4.2, 2.6, 1.3 and 0.5 million in Table 7 of the paper, with 1000 classes."""
    model = VectorModel(MobileNet(multiplier=multiplier).builder((3, 32, 32), 1000))
    assert model.size == parameters
    assert model.size == by_hand(int(32 * multiplier), [int(c * multiplier) for c in BLOCKS], 1000)


def test_ten_classes() -> None:
    assert VectorModel(MobileNet().builder((3, 32, 32), 10)).size == 3_217_226 == by_hand(32, BLOCKS, 10)


def test_the_variants_count_by_hand() -> None:
    """Without a normalisation after every convolution, or with another stem, it would not come out."""
    ends = 512 * 256 + 256 * 200
    assert by_hand(32, [64, 128, 256, 512], 0) + ends == 364_480


def test_a_block_is_one_convolution_for_each_channel_and_one_across_them() -> None:
    network = MobileNet(blocks="6/2 8", multiplier=0.5).build((3, 9, 9), 10)
    convolutions = [part for part in network.modules() if isinstance(part, nn.Conv2d)]
    described = [(c.in_channels, c.out_channels, c.kernel_size[0], c.stride[0], c.groups) for c in convolutions]
    assert described == [(3, 16, 3, 1, 1), (16, 16, 3, 2, 16), (16, 3, 1, 1, 1), (3, 3, 3, 1, 3), (3, 4, 1, 1, 1)]


@pytest.mark.parametrize(
    ("recipe", "side", "last"),
    [
        (MobileNet(), 28, 2),
        (MobileNet(), 32, 2),
        (MobileNet(stem_stride=2), 32, 1),
        (MobileNet(blocks="64 128/2 256/2 512/2", stem_stride=2), 64, 4),
    ],
)
def test_the_last_blocks_images(recipe: MobileNet, side: int, last: int) -> None:
    network = recipe.build((3, side, side), 10)
    assert isinstance(network.features, nn.Sequential)
    x = torch.zeros(1, 3, side, side)
    for part in list(network.features)[:-2]:
        x = part(x)
    assert x.shape[2:] == (last, last)


def test_a_small_multiplier_leaves_a_channel() -> None:
    network = MobileNet(multiplier=0.001).build((3, 32, 32), 10)
    assert {part.out_channels for part in network.modules() if isinstance(part, nn.Conv2d)} == {1}
