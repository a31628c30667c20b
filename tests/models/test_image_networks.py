"""What ResNet, MobileNet and VGG have in common: the images they take, their normalisations, and their end."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.func import grad

from superfed.core.batch import Batch, mean_cross_entropy
from superfed.core.errors import SettingError
from superfed.core.norm import BatchNorm
from superfed.core.vector import VectorModel
from superfed.models import VGG, MobileNet, ResNet
from superfed.models.images import ImageRecipe, Norm

ORIGINALS: dict[str, ImageRecipe] = {"resnet": ResNet(), "mobilenet": MobileNet(), "vgg": VGG()}
VARIANTS: dict[str, ImageRecipe] = {
    "resnet-run": ResNet(depth=10, stages=4, stem_stride=2, stem_pool=True, shortcut="projection", hidden_layers=1),
    "mobilenet-run": MobileNet(blocks="64 128/2 256/2 512/2", stem_stride=2, hidden_layers=1),
    "vgg-run": VGG(layers="16 pool 32 pool 64 128 pool 256 512 pool", hidden_layers=1, width=256),
}
SMALL: dict[str, ImageRecipe] = {
    "resnet": ResNet(depth=6, stages=2, channels=6, shortcut="projection"),
    "mobilenet": MobileNet(blocks="48 64/2", multiplier=0.125),
    "vgg": VGG(layers="6 pool 8", width=5),
}

every_original = pytest.mark.parametrize("recipe", ORIGINALS.values(), ids=ORIGINALS)
every_small = pytest.mark.parametrize("recipe", SMALL.values(), ids=SMALL)


def vector(recipe: ImageRecipe, input_shape: tuple[int, ...], num_classes: int = 10) -> VectorModel:
    return VectorModel(recipe.builder(input_shape, num_classes), head=recipe.head, dtype=torch.float64)


def norms(recipe: ImageRecipe) -> list[nn.Module]:
    parts = recipe.build((3, 28, 28), 10).modules()
    return [part for part in parts if isinstance(part, BatchNorm | nn.GroupNorm)]


@pytest.mark.parametrize("recipe", (ORIGINALS | VARIANTS).values(), ids=ORIGINALS | VARIANTS)
@pytest.mark.parametrize("input_shape", [(1, 28, 28), (3, 32, 32), (3, 28, 64), (3, 64, 64)])
def test_the_output_is_one_score_per_class(recipe: ImageRecipe, input_shape: tuple[int, ...]) -> None:
    model = VectorModel(recipe.builder(input_shape, 7))
    model.check_forward(torch.rand(2, *input_shape), 7)
    assert model.batchable


@every_original
@pytest.mark.parametrize("input_shape", [(784,), (28, 28), (1, 2, 28, 28)])
def test_they_take_images_only(recipe: ImageRecipe, input_shape: tuple[int, ...]) -> None:
    with pytest.raises(SettingError) as caught:
        recipe.build(input_shape, 10)
    assert str(caught.value) == (
        f"name: {recipe.called} takes images (channels, height, width), and the inputs are {input_shape}"
    )


@pytest.mark.parametrize(
    ("recipe", "least"),
    [
        (ResNet(channels=1), 3),
        (ResNet(depth=4, stages=1, channels=1), 1),
        (ResNet(depth=10, stages=4, channels=1, stem_stride=2, stem_pool=True), 17),
        (MobileNet(multiplier=0.01), 9),
        (MobileNet(blocks="1 1/2 1/2 1/2", stem_stride=2), 9),
        (VGG(layers="1 1 pool 1 1 pool 1 1 pool", width=1), 8),
        (VGG(layers="1 pool 1 pool 1 1 pool 1 1 pool", width=1), 16),
        (VGG(layers="1", width=1), 1),
    ],
)
def test_images_are_large_enough_or_refused(recipe: ImageRecipe, least: int) -> None:
    for shape in [(1, least, 20), (1, 20, least + 1), (1, least, least)]:
        vector(recipe, shape).check_forward(torch.zeros(1, *shape, dtype=torch.float64), 10)
    for side in range(1, least):
        with pytest.raises(SettingError) as caught:
            recipe.build((1, 20, side), 10)
        assert str(caught.value) == f"name: {recipe.called} needs larger images than 20×{side}"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ResNet(depth=18), "depth: must be 2 more than a multiple of 6 with 3 stages, not 18"),
        (lambda: ResNet(depth=2), "depth: must be 2 more than a multiple of 6 with 3 stages, not 2"),
        (lambda: ResNet(depth=20, stages=4), "depth: must be 2 more than a multiple of 8 with 4 stages, not 20"),
        (lambda: ResNet(stages=0), "stages: must be 1 or more, not 0"),
        (lambda: ResNet(channels=0), "channels: must be 1 or more, not 0"),
        (lambda: ResNet(stem_stride=3), "stem_stride: must be 1 or 2, not 3"),
        (lambda: ResNet(groups=0), "groups: must be 1 or more, not 0"),
        (lambda: ResNet(hidden_layers=-1), "hidden_layers: must be 0 or more, not -1"),
        (lambda: ResNet(width=0), "width: must be 1 or more, not 0"),
        (lambda: MobileNet(stem_stride=0), "stem_stride: must be 1 or 2, not 0"),
        (lambda: MobileNet(multiplier=0), "multiplier: must be more than 0, not 0"),
        (lambda: MobileNet(blocks=" "), "blocks: must name the channels of one block or more"),
        (
            lambda: MobileNet(blocks="64 128/3"),
            "blocks: '128/3' is neither a number of channels nor one with /2 after it",
        ),
        (lambda: MobileNet(blocks="0/2"), "blocks: '0/2' is neither a number of channels nor one with /2 after it"),
        (lambda: VGG(width=0), "width: must be 1 or more, not 0"),
        (lambda: VGG(layers="pool pool"), "layers: must name the channels of one convolution or more"),
        (lambda: VGG(layers=""), "layers: must name the channels of one convolution or more"),
        (lambda: VGG(layers="64 M"), "layers: 'M' is neither a number of channels nor 'pool'"),
        (lambda: VGG(layers="64 -1"), "layers: '-1' is neither a number of channels nor 'pool'"),
    ],
)
def test_a_bad_field_is_a_sentence(make: Callable[[], ImageRecipe], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        make()
    assert str(caught.value) == sentence


@pytest.mark.parametrize(("recipe", "count"), [(ResNet(), 19), (MobileNet(), 27), (VGG(norm="batch"), 6)])
def test_every_convolution_is_followed_by_its_normalisation(recipe: ImageRecipe, count: int) -> None:
    assert len(norms(recipe)) == count
    assert not norms(replace(recipe, norm="none"))
    network = recipe.build((3, 28, 28), 10)
    assert all(part.bias is None for part in network.modules() if isinstance(part, nn.Conv2d))
    plain = replace(recipe, norm="none").build((3, 28, 28), 10)
    assert all(part.bias is not None for part in plain.modules() if isinstance(part, nn.Conv2d))


@every_small
@pytest.mark.parametrize(("groups", "found"), [(2, {2}), (3, {1, 3}), (4, {2, 4}), (6, {2, 6}), (32, {2, 4, 8})])
def test_groups_divide_every_layers_channels(recipe: ImageRecipe, groups: int, found: set[int]) -> None:
    grouped = norms(replace(recipe, norm="group", groups=groups))
    assert all(isinstance(part, nn.GroupNorm) and part.num_channels % part.num_groups == 0 for part in grouped)
    assert {part.num_groups for part in grouped if isinstance(part, nn.GroupNorm)} <= found
    vector(replace(recipe, norm="group", groups=groups), (3, 8, 8)).check_forward(
        torch.rand(2, 3, 8, 8, dtype=torch.float64), 10
    )


@every_small
@pytest.mark.parametrize("norm", ["batch", "group", "none"])
@pytest.mark.parametrize("real", [1, 3, 5])
def test_padding_changes_neither_outputs_nor_gradients(recipe: ImageRecipe, norm: Norm, real: int) -> None:
    model = vector(replace(recipe, norm=norm), (3, 8, 8))
    assert model.batchable
    rng = torch.Generator().manual_seed(real)
    x = torch.randn(6, 3, 8, 8, generator=rng, dtype=torch.float64)
    y, weight = torch.randint(0, 10, (6,), generator=rng), (torch.arange(6) < real).double()
    w = model.fresh(1)
    whole = model.apply(w, x[:real], training=True)
    assert torch.allclose(model.apply(w, x, training=True, weight=weight)[:real], whole, rtol=0, atol=1e-12)
    unweighted = model.apply(w, x, training=True)[:real]
    assert torch.allclose(unweighted, whole, atol=1e-6) == (norm != "batch")

    def loss(w: Tensor, batch: Batch) -> Tensor:
        return mean_cross_entropy(model.apply(w, batch.x, training=True, weight=batch.weight), batch)

    unpadded = grad(loss)(w, Batch(x[:real], y[:real]))
    assert torch.allclose(grad(loss)(w, Batch(x, y, weight)), unpadded, rtol=0, atol=1e-11)


@every_original
@pytest.mark.parametrize("settings", [{"hidden_layers": 0}, {"hidden_layers": 1, "width": 9}, {"hidden_layers": 3}])
def test_the_head_is_every_fully_connected_layer(recipe: ImageRecipe, settings: dict[str, Any]) -> None:
    recipe = replace(recipe, **settings)
    network = recipe.build((3, 32, 32), 10)
    linear = [name for name, part in network.named_modules() if isinstance(part, nn.Linear)]
    assert len(linear) == recipe.hidden_layers + 1
    model = vector(recipe, (3, 32, 32))
    assert [layer.name for layer in model.layers if layer.start >= model.head.start] == linear
    assert linear == (["classifier"] if len(linear) == 1 else [f"classifier.{2 * i}" for i in range(len(linear))])


@every_original
def test_another_head_may_be_named(recipe: ImageRecipe) -> None:
    last = "classifier" if recipe.hidden_layers == 0 else f"classifier.{2 * recipe.hidden_layers}"
    model = vector(replace(recipe, head=last), (3, 32, 32))
    assert model.head.start == model.layers[-1].start


@every_original
def test_the_module_handed_out_computes_the_same(recipe: ImageRecipe) -> None:
    model = vector(recipe, (1, 28, 28))
    w = model.fresh(2)
    x = torch.rand(3, 1, 28, 28, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.equal(model.module(w)(x), model.apply(w, x))
