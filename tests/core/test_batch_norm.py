"""Batch normalisation sees a batch's real samples and nothing else."""

import pytest
import torch
from torch import Tensor, nn
from torch.func import grad, vmap

from superfed.core.batch import Batch, mean_cross_entropy
from superfed.core.norm import BatchNorm
from superfed.core.vector import VectorModel


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 3, 3),
        nn.BatchNorm2d(3, track_running_stats=False),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(3 * 9, 5),
        nn.BatchNorm1d(5, track_running_stats=False, affine=False),
        nn.Linear(5, 4),
    ).double()


def padded(real: int, size: int) -> tuple[Tensor, Tensor, Tensor]:
    rng = torch.Generator().manual_seed(real)
    x = torch.randn(size, 2, 5, 5, generator=rng, dtype=torch.float64)
    return x, torch.randint(0, 4, (size,), generator=rng), (torch.arange(size) < real).double()


@pytest.mark.parametrize("real", [1, 2, 5, 6])
def test_padding_changes_neither_outputs_nor_gradients(real: int) -> None:
    model = VectorModel(network)
    assert model.batchable
    w = model.fresh(1)
    x, y, weight = padded(real, 6)
    whole = model.apply(w, x[:real], training=True)
    assert torch.allclose(model.apply(w, x, training=True, weight=weight)[:real], whole, rtol=0, atol=1e-12)
    if real < 6:
        assert not torch.allclose(model.apply(w, x, training=True)[:real], whole, atol=1e-3)

    def loss(w: Tensor, batch: Batch) -> Tensor:
        return mean_cross_entropy(model.apply(w, batch.x, training=True, weight=batch.weight), batch)

    unpadded = grad(loss)(w, Batch(x[:real], y[:real]))
    assert torch.allclose(grad(loss)(w, Batch(x, y, weight)), unpadded, rtol=0, atol=1e-10)


def test_lanes_with_batches_of_different_sizes() -> None:
    model = VectorModel(network)
    w = torch.stack([model.fresh(k) for k in range(4)])
    batches = [padded(real, 6) for real in (1, 3, 6, 0)]
    x, _, weight = (torch.stack(column) for column in zip(*batches, strict=True))
    outputs = vmap(lambda w, x, weight: model.apply(w, x, training=True, weight=weight))(w, x, weight)
    for lane, real in enumerate((1, 3, 6)):
        alone = model.apply(w[lane], x[lane, :real], training=True)
        assert torch.allclose(outputs[lane, :real], alone, rtol=0, atol=1e-12)
    assert torch.isfinite(outputs).all()  # also of the lane that has nothing left


def test_torch_computes_the_same() -> None:
    ours, theirs = BatchNorm(3), nn.BatchNorm2d(3, track_running_stats=False)
    with torch.no_grad():
        for norm in (ours, theirs):
            assert norm.weight is not None
            assert norm.bias is not None
            norm.weight.copy_(torch.tensor([1.0, 2.0, 3.0]))
            norm.bias.copy_(torch.tensor([0.1, 0.2, 0.3]))
    x = torch.randn(4, 3, 5, 5, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(ours(x), theirs(x), atol=1e-6)


def test_one_value_for_a_channel_gives_the_bias() -> None:
    norm = BatchNorm(3).double()
    with torch.no_grad():
        assert norm.bias is not None
        norm.bias.copy_(torch.tensor([1.0, 2.0, 3.0]))
    for shape in ((1, 3), (1, 3, 1, 1)):
        x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
        outputs = norm(x)
        assert torch.equal(outputs.flatten(), norm.bias)
        (gradient,) = torch.autograd.grad(outputs.square().sum(), x)
        assert torch.equal(gradient, torch.zeros(shape, dtype=torch.float64))


def test_the_module_handed_out_is_the_one_that_was_given() -> None:
    model = VectorModel(network)
    w = model.fresh(0)
    module = model.module(w)
    assert [type(part) for part in module.children()] == [type(part) for part in network().children()]
    x, _, _ = padded(6, 6)
    assert torch.allclose(module(x), model.apply(w, x), atol=1e-12)


def test_a_layer_in_two_places_is_exact_in_both() -> None:
    def twice() -> nn.Module:
        norm = nn.BatchNorm1d(3, track_running_stats=False)
        return nn.Sequential(norm, nn.Linear(3, 3), norm).double()

    model = VectorModel(twice)
    w = model.fresh(0)
    x = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    weight = torch.tensor([1.0, 1, 1, 0, 0], dtype=torch.float64)
    assert torch.allclose(
        model.apply(w, x, training=True, weight=weight)[:3], model.apply(w, x[:3], training=True), atol=1e-12
    )
