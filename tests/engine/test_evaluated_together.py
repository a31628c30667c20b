"""Clients evaluated together have the scores they have one at a time."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from superfed.core.algorithm import Algorithm
from superfed.core.vector import VectorModel
from superfed.data.own import OwnData
from superfed.engine import evaluate as evaluate_module
from superfed.engine.evaluate import ClientScores, lambda_grid
from superfed.engine.executors import Batched, OneAtATime
from superfed.engine.simulation import Run, evaluate
from superfed.engine.task import Task
from superfed.models import ResNet
from support.toys import CPU, METHODS, toy_data, toy_task, train

every_method = pytest.mark.parametrize("algorithm", METHODS.values(), ids=METHODS)


def assert_same_scores(ours: list[ClientScores], theirs: list[ClientScores]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        assert one.lambdas == other.lambdas or np.isnan([one.lambdas, other.lambdas]).all()
        assert (one.num_validation, one.num_test) == (other.num_validation, other.num_test)
        assert one.own_lambda == pytest.approx(other.own_lambda)
        assert (one.own is None) == (other.own is None)
        pairs = [(one.validation, other.validation), (one.test, other.test)]
        for mine, expected in pairs + ([(one.own, other.own)] if one.own and other.own else []):
            for name, values in expected.items():
                np.testing.assert_allclose(mine[name], values, atol=1e-9, err_msg=name)


@every_method
@pytest.mark.parametrize("epochs", [0, 2])
def test_every_method(algorithm: Algorithm, epochs: int) -> None:
    runs = train([toy_task(algorithm, seed=seed) for seed in (0, 1)])
    everyone = [range(6), range(1, 4)]
    ours = evaluate(runs, everyone, Batched(CPU), lambda_grid(4), epochs=epochs)
    theirs = evaluate(runs, everyone, OneAtATime(CPU), lambda_grid(4), epochs=epochs)
    for mine, expected in zip(ours, theirs, strict=True):
        assert_same_scores(mine, expected)


def test_clients_with_more_samples_than_a_chunk_or_with_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a network that normalises by a batch's statistics, so that chunks must be cut as they are for one client."""
    for module in ("superfed.engine.evaluate.CHUNK", "superfed.engine.evaluate_lanes.CHUNK"):
        monkeypatch.setattr(module, 3)
    assert evaluate_module.CHUNK == 3
    rng = torch.Generator().manual_seed(0)
    clients = [
        (torch.rand(n, 1, 8, 8, generator=rng, dtype=torch.float64), torch.randint(0, 3, (n,), generator=rng))
        for n in (3, 31, 60, 17)
    ]
    model = VectorModel(ResNet(depth=8, channels=2).builder((1, 8, 8), 3), dtype=torch.float64)
    base = toy_task(METHODS["superfed"])
    schedule = replace(base.schedule, rounds=1, clients_per_round=2)
    run = Run(Task(base.algorithm, model, OwnData.from_clients(clients, num_classes=3), schedule))
    sizes = [len(run.task.data.test(client)) for client in range(4)]
    assert min(sizes) <= 1
    assert max(sizes) > 6
    (ours,) = evaluate([run], [range(4)], Batched(CPU), lambda_grid(3))
    (theirs,) = evaluate([run], [range(4)], OneAtATime(CPU), lambda_grid(3))
    assert_same_scores(ours, theirs)


def test_runs_of_few_and_of_many_clients() -> None:
    tasks = [toy_task(METHODS["superfed"], data=toy_data([7] * count)) for count in (3, 9)]
    runs = train([replace(task, model=tasks[0].model) for task in tasks])
    everyone = [range(3), range(4, 9)]
    ours = evaluate(runs, everyone, Batched(CPU), lambda_grid(4))
    theirs = evaluate(runs, everyone, OneAtATime(CPU), lambda_grid(4))
    for mine, expected in zip(ours, theirs, strict=True):
        assert_same_scores(mine, expected)


@pytest.mark.parametrize("budget", [1, 40_000])
def test_a_small_budget_changes_nothing(budget: int) -> None:
    (run,) = train([toy_task(METHODS["superfed"])])
    executor = Batched(CPU)
    executor.budget = budget
    (ours,) = evaluate([run], [range(6)], executor, lambda_grid(3))
    (theirs,) = evaluate([run], [range(6)], OneAtATime(CPU), lambda_grid(3))
    assert_same_scores(ours, theirs)
