"""The room that evaluated models are said to need is what their operations take."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate

import pytest
import torch
from torch import Tensor
from torch.func import vmap
from torch.profiler import ProfilerActivity, profile

from superfed.core.vector import VectorModel
from superfed.engine.answer_room import answer_bytes
from superfed.engine.answers import answer_tensors
from superfed.models import MODELS, ModelRecipe, ResNet, StackedLSTM, TwoNN
from support.toys import CPU

NETWORKS = {
    "two_nn": (TwoNN(), torch.rand(1, 1, 28, 28)),
    "resnet": (ResNet(depth=8, channels=4), torch.rand(1, 3, 16, 16)),
    "stacked_lstm": (StackedLSTM(), torch.zeros(1, 20, dtype=torch.long)),
}


@contextmanager
def most_held() -> Iterator[list[int]]:
    """Afterwards the list has the most bytes that were held of those that were asked for."""
    found: list[int] = []
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        yield found
    events = seen.profiler.kineto_results.events()
    changes = sorted((event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]")
    found.append(max(accumulate((change for _, change in changes), initial=0)))


def seen_bytes(model: VectorModel, x: Tensor, lanes: int, samples: int) -> int:
    """For each lane; inputs, weights and labels are there before."""
    in_lanes = model.for_lanes()
    weights = torch.stack([model.fresh(lane) for lane in range(lanes)])
    inputs = x.expand(lanes, samples, *x.shape[1:]).clone()
    counts, labels = torch.ones(lanes, samples), torch.ones(lanes, samples, dtype=torch.long)
    with torch.no_grad(), most_held() as most:
        outputs = vmap(lambda w, x, count: in_lanes.apply(w, x, weight=count))(weights, inputs, counts)
        answer_tensors(outputs, labels)
    return most[0] // lanes


@pytest.mark.parametrize(("recipe", "x"), NETWORKS.values(), ids=NETWORKS)
def test_about_what_is_seen_to_be_held(recipe: ModelRecipe, x: Tensor) -> None:
    model = VectorModel(recipe.builder(tuple(x.shape[1:]), 10))
    weights_and_inputs = answer_bytes(model, x, CPU, 0) + 64 * x[0].nbytes
    said = answer_bytes(model, x, CPU, 64) - weights_and_inputs
    seen = seen_bytes(model, x, lanes=3, samples=64)
    assert seen / 2 < said < 2 * seen


def test_a_recurrent_network_needs_many_times_its_letters() -> None:
    """Its gates at every time, which its inputs, one number for each time, say nothing of."""
    letters, samples, units = 80, 1024, 256
    model = VectorModel(StackedLSTM().builder((letters,), 100))
    gates = 4 * letters * samples * 4 * units
    assert answer_bytes(model, torch.zeros(1, letters, dtype=torch.long), CPU, samples) > 2 * gates


@pytest.mark.parametrize("name", MODELS)
def test_nothing_is_computed_to_find_it(name: str) -> None:
    """It is found for every network there is, and without the memory that so many samples would take."""
    shape = (80,) if name == "stacked_lstm" else (3, 32, 32)
    x = torch.zeros(1, *shape, dtype=torch.long if name == "stacked_lstm" else torch.float32)
    model = VectorModel(MODELS[name]().builder(shape, 10))
    with most_held() as most:
        needed = answer_bytes(model, x, CPU, 10**6)
    assert needed > 100 * most[0]
