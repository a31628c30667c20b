"""What a step cannot do without, counted; by hand here, where that is easy."""

import pytest
import torch
from tiny_networks import TINY

from superfed.bench.case import make_case
from superfed.bench.floor import floor_of
from superfed.bench.flops import counted_flops
from superfed.bench.methods import METHODS
from superfed.bench.networks import NETWORKS, Network
from superfed.bench.passes import numbers_per_step
from superfed.bench.plain import plain_update
from superfed.core.algorithm import Algorithm
from superfed.core.vector import VectorModel
from superfed.engine.executors import one_thread
from superfed.models import TwoNN

CPU = torch.device("cpu")
FIRST, SECOND, LAST = 784 * 200, 200 * 200, 200 * 10
FORWARD = 2 * 10 * (FIRST + SECOND + LAST)
INPUT_GRADIENTS = 2 * 10 * (SECOND + LAST)  # the first layer's inputs are data
SIZES = {
    "two_nn": 199_210,
    "two_cnn": 2_156_490,
    "resnet": 5_054_784,
    "mobilenet": 364_480,
    "vgg": 1_718_416,
    "stacked_lstm": 821_024,
}


def flops_of(algorithm: Algorithm, network: Network) -> float:
    """Of a step."""
    case = make_case(algorithm, network, 1, batches=1, epochs=1)
    (job,) = case.jobs(1, CPU)
    with one_thread(), counted_flops() as flops:
        plain_update(job, algorithm)
    return flops.total / case.steps


@pytest.mark.parametrize("name", SIZES)
def test_the_networks_are_those_of_the_goals(name: str) -> None:
    network = NETWORKS[name]
    assert VectorModel(network.recipe.builder(network.input_shape, network.num_classes)).size == SIZES[name]
    assert [network.batch_size for network in NETWORKS.values()] == [10, 10, 20, 20, 10, 50]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("fedavg", 2 * FORWARD + INPUT_GRADIENTS),
        ("superfed", 2 * FORWARD + INPUT_GRADIENTS),
        ("ditto", 2 * FORWARD + INPUT_GRADIENTS),
        ("apfl", 2 * (2 * FORWARD + INPUT_GRADIENTS)),
        ("pfedme", 5 * (2 * FORWARD + INPUT_GRADIENTS)),
        ("fedrep", ((FORWARD + 2 * 10 * LAST) + (2 * FORWARD + INPUT_GRADIENTS - 2 * 10 * LAST)) / 2),
    ],
)
def test_flops_of_two_nn(method: str, expected: float) -> None:
    assert flops_of(METHODS[method], NETWORKS["two_nn"]) == expected


def test_flops_of_convolutions_and_cells() -> None:
    batch, images = 4, TINY["two_cnn"]  # 8×8 pixels, 2 channels, pooled to 4×4; 4 channels, pooled to 2×2; 16 → 5 → 3
    first, second, dense = 64 * 2 * 25, 16 * 4 * 2 * 25, 16 * 5 + 5 * 3
    assert flops_of(METHODS["fedavg"], images) == 2 * batch * (2 * first + 3 * second + 3 * dense)
    letters = TINY["stacked_lstm"]  # 5 letters in 2 numbers each, twice 4 units, 6 letters to choose from
    cells, last = 5 * 4 * 4 * (2 + 4) + 5 * 4 * 4 * (4 + 4), 4 * 6
    for method in ("fedavg", "superfed"):
        assert flops_of(METHODS[method], letters) == 2 * batch * 3 * (cells + last)


@pytest.mark.parametrize(
    ("method", "passes"),
    [
        ("fedavg", 5),  # weights and velocity read and written, weights read by the forward pass
        ("local", 5),
        ("fedprox", 6),  # and the global model
        ("scaffold", 7),  # and both variates
        ("ditto", 5.5),  # FedProx's in one phase and FedAvg's in the other
        ("apfl", 11),  # two models; the mixture is written, and two forward passes read
        ("superfed", 11),  # two models with their velocities, the global one, and the forward pass reads both
        ("pfedme", 13),  # two models, no velocities; four new points between five forward passes
    ],
)
def test_passes_over_the_parameters(method: str, passes: float) -> None:
    network = Network(TwoNN(), (2, 3), 3, 4)
    case = make_case(METHODS[method], network, 1, batches=2, epochs=1)
    scalars = 8
    assert numbers_per_step(case) == pytest.approx(passes * case.task.model.size, abs=scalars)


@pytest.mark.parametrize(
    ("method", "network"), [*((method, "two_cnn") for method in METHODS), *(("superfed", network) for network in TINY)]
)
def test_every_method_and_network_has_a_floor(method: str, network: str) -> None:
    case = make_case(METHODS[method], TINY[network], 1, batches=2, epochs=1)
    floor = floor_of(case, 1e6, 1, CPU)
    assert 0 < floor.seconds < 60
    assert floor.flops == 1e6
    assert floor.num_bytes >= 4 * case.task.model.size
    assert floor.bound in ("products", "memory")
