"""Fused updates are the plain ones, quicker."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from superfed.algorithms import L2GD, FedAvg, FedProx, SuPerFed
from superfed.core.algorithm import Algorithm, Context
from superfed.core.batch import Batch
from superfed.core.fused import fused_phase
from superfed.core.sgd import SGD
from superfed.core.state import State, is_finite
from superfed.core.vector import VectorModel
from superfed.data.own import ClientArrays, OwnData
from superfed.engine import fusing
from superfed.engine.local import Update, local_update
from superfed.engine.task import Schedule, Task
from superfed.models import VGG, ModelRecipe, ResNet, StackedLSTM, TwoCNN, TwoNN
from support.toys import METHODS, toy_task, train

pytest.importorskip("numba")

PARTLY = {"scaffold-option-I"}
"""Not its last phase, which sums gradients."""
NETWORKS: dict[str, tuple[ModelRecipe, tuple[int, ...]]] = {
    "two_nn": (TwoNN(width=5), (2, 6, 6)),
    "two_cnn": (TwoCNN(channels=3, width=5), (2, 6, 6)),
    "two_cnn-variant": (TwoCNN(channels=3, width=5, padding=1, pool_padding=1, bias=False), (2, 6, 6)),
    "vgg": (VGG(layers="3 pool 4", hidden_layers=1, width=5), (2, 6, 6)),
    "resnet": (ResNet(depth=6, stages=2, channels=2), (2, 6, 6)),
    "stacked_lstm": (StackedLSTM(embedding=3, width=4), (5,)),
}


@contextmanager
def plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr("superfed.engine.local.may_fuse", lambda device, dtype: False)
        patch.setattr("superfed.engine.local.quicker", lambda ctx: ctx)  # the loss through the model itself
        yield


def both_ways(task: Task, monkeypatch: pytest.MonkeyPatch, round: int = 1) -> tuple[Update, Update]:
    sent = task.algorithm.broadcast(task.init_server(), task.model)
    kept = task.init_client(0)
    with plain(monkeypatch):
        expected = local_update(task, 0, round, kept, sent)
    return expected, local_update(task, 0, round, kept, sent)


def assert_alike(one: Update, other: Update, tolerance: float) -> None:
    for ours, theirs in ((one.kept, other.kept), (one.upload, other.upload)):
        assert ours.keys() == theirs.keys()
        for name, value in ours.items():
            torch.testing.assert_close(value, theirs[name], rtol=0, atol=tolerance, msg=name)


def small_task(network: str, algorithm: Algorithm, dtype: torch.dtype = torch.float64) -> Task:
    recipe, shape = NETWORKS[network]
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 17)
    x = rng.integers(0, 3, (17, *shape)) if len(shape) == 1 else rng.normal(size=(17, *shape)) + y[:, None, None, None]
    client = ClientArrays(train=(x, y), validation=(x[:2], y[:2]), test=(x[:2], y[:2]))
    model = VectorModel(recipe.builder(shape, 3), dtype=dtype)
    schedule = Schedule(rounds=2, clients_per_round=1, local_epochs=2, batch_size=5, lr=0.05, weight_decay=0.01)
    return Task(algorithm, model, OwnData.from_clients([client], num_classes=3), schedule, seed=3)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_fused(name: str) -> None:
    method = METHODS[name]
    phases = method.phases(1)
    assert all(fused_phase(method, phase.name) is not None for phase in phases) == (name not in PARTLY)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", METHODS)
def test_fused_equals_plain(network: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, found = both_ways(small_task(network, METHODS[name]), monkeypatch)
    assert_alike(expected, found, 1e-11)


@pytest.mark.parametrize("network", ["two_nn", "two_cnn", "resnet"])
@pytest.mark.parametrize("name", METHODS)
def test_quicker_ways_for_methods_that_are_not_fused(network: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("superfed.engine.local.fused_phase", lambda method, phase: None)
    expected, found = both_ways(small_task(network, METHODS[name]), monkeypatch)
    assert_alike(expected, found, 1e-11)


@pytest.mark.parametrize("aggregating", [False, True])
def test_both_kinds_of_rounds_of_l2gd(aggregating: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    task = small_task("two_nn", L2GD(p=0.5, lam=0.3))
    kinds = {bool(task.round_values(round)["aggregating"]): round for round in range(20)}
    expected, found = both_ways(task, monkeypatch, kinds[aggregating])
    assert_alike(expected, found, 1e-11)


@pytest.mark.parametrize("head", ["(none)", "(all)", "features.3"])
@pytest.mark.parametrize("name", ["fedrep", "fedper", "lg_fedavg"])
def test_heads_of_any_size(head: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, shape = TwoCNN(channels=3, width=5, head=head), (2, 6, 6)
    task = small_task("two_cnn", METHODS[name])
    model = VectorModel(recipe.builder(shape, 3), head=head, dtype=torch.float64)
    expected, found = both_ways(replace(task, model=model), monkeypatch)
    assert_alike(expected, found, 1e-11)


@pytest.mark.parametrize("mixing", ["model", "layer"])
def test_before_personalisation_starts_too(mixing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    task = small_task("two_nn", SuPerFed(mu=0.3, nu=2.0, start=1, mixing=mixing))
    expected, found = both_ways(task, monkeypatch, round=0)
    assert_alike(expected, found, 1e-11)
    assert torch.equal(found.kept["w_l"], task.init_client(0)["w_l"])


def test_a_model_of_zeros_has_no_angle(monkeypatch: pytest.MonkeyPatch) -> None:
    task = small_task("two_nn", SuPerFed(nu=2.0, start=0))
    sent, kept = {"w": torch.zeros(task.model.size, dtype=torch.float64)}, task.init_client(0)
    with plain(monkeypatch):
        expected = local_update(task, 0, 1, kept, sent)
    assert_alike(expected, local_update(task, 0, 1, kept, sent), 1e-11)


@pytest.mark.parametrize("name", ["fedavg", "superfed"])
def test_single_precision_agrees_as_far_as_it_goes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, found = both_ways(small_task("two_nn", METHODS[name], torch.float32), monkeypatch)
    assert_alike(expected, found, 1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_what_goes_in_stays_as_it_was(name: str) -> None:
    task = small_task("two_cnn", METHODS[name])
    sent, kept = task.algorithm.broadcast(task.init_server(), task.model), task.init_client(0)
    x = task.data.train(0).x.clone()
    before = [{key: t.clone() for key, t in state.items()} for state in (sent, kept)]
    first = local_update(task, 0, 1, kept, sent)
    for state, old in zip((sent, kept), before, strict=True):
        assert all(torch.equal(t, old[key]) for key, t in state.items())
    assert torch.equal(x, task.data.train(0).x)
    again = local_update(task, 0, 1, kept, sent)  # and nothing is left over in the network that both use
    assert_alike(first, again, 0)


def test_divergence_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("fedavg", "superfed"):
        task = toy_task(METHODS[name], lr=1e200)
        for update in both_ways(task, monkeypatch):
            assert not is_finite(update.kept, update.upload)


@dataclass(frozen=True)
class Doubled(FedAvg):
    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        return super().step(super().step(work, sent, batch, ctx), sent, batch, ctx)


@dataclass(frozen=True)
class Heavier(FedProx):
    def objective(self, w: Tensor, sent: State, batch: Batch, ctx: Context) -> Tensor:
        return 2 * super().objective(w, sent, batch, ctx)


@pytest.mark.parametrize("method", [Doubled(), Heavier()])
def test_who_changes_a_method_gets_what_was_written(method: Algorithm) -> None:
    assert fused_phase(method, "train") is None


def test_without_numba_the_plain_ones_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    fusing._wanted.cache_clear()
    try:
        task = toy_task(METHODS["superfed"])
        assert not fusing.may_fuse(torch.device("cpu"), torch.float32)
        (run,) = train([task])
        assert run.finished
    finally:
        fusing._wanted.cache_clear()


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPERFED_FUSED", "0")
    fusing._wanted.cache_clear()
    try:
        assert not fusing.may_fuse(torch.device("cpu"), torch.float32)
    finally:
        fusing._wanted.cache_clear()


def test_half_precision_is_left_to_torch() -> None:
    assert not fusing.may_fuse(torch.device("cpu"), torch.bfloat16)
    task = small_task("two_nn", METHODS["superfed"], torch.bfloat16)
    sent, kept = task.algorithm.broadcast(task.init_server(), task.model), task.init_client(0)
    assert local_update(task, 0, 1, kept, sent).upload["w"].dtype == torch.bfloat16


def test_sgd_in_one_pass_leaves_to_torch_what_autograd_follows() -> None:
    rates = [torch.tensor(rate, dtype=torch.float64) for rate in (0.1, 0.9, 0.01)]
    w, gradient, velocity = torch.randn(3, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for at in (w, w.clone().requires_grad_()):
        expected, found = (kind(*rates)(at, gradient, velocity) for kind in (SGD, fusing.OnePassSGD))
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.requires_grad == theirs.requires_grad
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-15)
