"""Every deep network under every method: lanes computed together equal clients computed one at a time."""

from functools import cache

import pytest
import torch

from superfed.core.algorithm import Algorithm
from superfed.core.vector import VectorModel
from superfed.data.own import ClientArrays, OwnData
from superfed.engine.executors import Batched, OneAtATime
from superfed.engine.simulation import Run
from superfed.engine.task import Schedule, Task
from superfed.models import VGG, MobileNet, ModelRecipe, ResNet, StackedLSTM
from support.toys import CPU, METHODS, assert_same, go_on, train, weights

GPU = torch.device("cuda")
CLASSES = 3
IMAGE, ROW = (2, 6, 6), (5,)
SIZES = (1, 3, 7)
"""Around a batch size of 3: one sample, one batch, and a last batch of one sample."""

NETWORKS: dict[str, tuple[ModelRecipe, tuple[int, ...]]] = {
    "resnet": (ResNet(depth=6, stages=2, channels=2), IMAGE),
    "resnet-group": (
        ResNet(depth=4, stages=1, channels=4, stem_pool=True, norm="group", hidden_layers=1, width=4),
        IMAGE,
    ),
    "resnet-projection": (ResNet(depth=6, stages=2, channels=2, shortcut="projection", bias=False), IMAGE),
    "resnet-one-pixel": (ResNet(depth=8, stages=3, channels=2, stem_stride=2), IMAGE),
    "mobilenet": (MobileNet(blocks="32 48/2", multiplier=0.125), IMAGE),
    "vgg": (VGG(layers="3 pool 4", hidden_layers=1, width=5), IMAGE),
    "stacked_lstm": (StackedLSTM(embedding=3, width=4), ROW),
}

every_network = pytest.mark.parametrize("network", NETWORKS)
every_method = pytest.mark.parametrize("algorithm", METHODS.values(), ids=METHODS)


@cache
def toy_task(network: str, algorithm: Algorithm) -> Task:
    recipe, shape = NETWORKS[network]
    rng = torch.Generator().manual_seed(0)

    def draw(count: int) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.randint(0, CLASSES, (count,), generator=rng)
        if shape == ROW:
            return torch.randint(0, CLASSES, (count, *shape), generator=rng), y
        return torch.randn(count, *shape, generator=rng, dtype=torch.float64) + y[:, None, None, None], y

    clients = [ClientArrays(train=draw(size), validation=draw(2), test=draw(2)) for size in SIZES]
    model = VectorModel(recipe.builder(shape, CLASSES), head=recipe.head, dtype=torch.float64)
    schedule = Schedule(rounds=2, clients_per_round=len(SIZES), local_epochs=1, batch_size=3, lr=0.05)
    return Task(algorithm, model, OwnData.from_clients(clients, num_classes=CLASSES), schedule, seed=3)


@cache
def trained_one_at_a_time(network: str, algorithm: Algorithm) -> tuple[Run, dict[str, torch.Tensor]]:
    """A whole run, and what it had learnt after its first round."""
    run = Run(toy_task(network, algorithm))
    go_on([run], OneAtATime(CPU), rounds=1)
    first = {name: value.clone() for name, value in weights(run).items()}
    go_on([run], OneAtATime(CPU))
    return run, first


@every_network
@every_method
def test_batched_equals_one_at_a_time(network: str, algorithm: Algorithm) -> None:
    task = toy_task(network, algorithm)
    task.check()
    assert task.model.batchable
    alone, first = trained_one_at_a_time(network, algorithm)
    (batched,) = train([task], Batched(CPU))
    assert_same(alone, batched, 1e-9)
    assert max(float((value - first[name]).abs().max()) for name, value in weights(alone).items()) > 1e-6


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
@every_network
@every_method
def test_batched_on_cuda_equals_one_at_a_time(network: str, algorithm: Algorithm) -> None:
    alone, _ = trained_one_at_a_time(network, algorithm)
    (batched,) = train([toy_task(network, algorithm)], Batched(GPU))
    assert_same(alone, batched, 1e-9)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
@every_network
def test_one_at_a_time_on_cuda_too(network: str) -> None:
    alone, _ = trained_one_at_a_time(network, METHODS["superfed"])
    (there,) = train([toy_task(network, METHODS["superfed"])], OneAtATime(GPU))
    assert_same(alone, there, 1e-9)
