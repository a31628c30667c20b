"""Clients evaluated together have the scores they have one at a time."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from superfed.core.algorithm import Algorithm
from superfed.core.vector import VectorModel
from superfed.data.own import OwnData
from superfed.engine import evaluate as evaluate_module
from superfed.engine import evaluate_lanes
from superfed.engine.answer_room import answer_bytes
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


@pytest.mark.parametrize(("room_for", "asked"), [(0, {1}), (1, {1}), (2, {2, 1}), (3, {3}), (7, {6}), (18, {18})])
def test_no_more_models_are_asked_at_once_than_fit(
    room_for: int, asked: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six clients with three models each: a client's are parted only where even they do not fit."""
    (run,) = train([toy_task(METHODS["superfed"])])
    model, clients = run.task.model, range(6)
    longest = max(len(run.task.data.test(client)) for client in clients)
    executor, numbers = Batched(CPU), set[int]()
    executor.budget = 2 * room_for * answer_bytes(model, run.task.data.test(0).x, CPU, longest)

    def spied(model: VectorModel, weights: Tensor, *rest: Tensor) -> Tensor:
        numbers.add(len(weights))
        return forward(model, weights, *rest)

    forward = evaluate_lanes._forward
    monkeypatch.setattr(evaluate_lanes, "_forward", spied)
    (ours,) = evaluate([run], [clients], executor, lambda_grid(3))
    (theirs,) = evaluate([run], [clients], OneAtATime(CPU), lambda_grid(3))
    assert_same_scores(ours, theirs)
    assert numbers == asked


@pytest.mark.parametrize("most", [1, 2, 5])
def test_where_memory_is_short_all_the_same_fewer_are_asked(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    (run,) = train([toy_task(METHODS["superfed"])])
    forward = evaluate_lanes._forward

    def short(model: VectorModel, weights: Tensor, *rest: Tensor) -> Tensor:
        if len(weights) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(model, weights, *rest)

    monkeypatch.setattr(evaluate_lanes, "_forward", short)
    (ours,) = evaluate([run], [range(6)], Batched(CPU), lambda_grid(3))
    (theirs,) = evaluate([run], [range(6)], OneAtATime(CPU), lambda_grid(3))
    assert_same_scores(ours, theirs)


def test_memory_for_not_even_one_model_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    (run,) = train([toy_task(METHODS["superfed"])])

    def never(*_: object) -> Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(evaluate_lanes, "_forward", never)
    with pytest.raises(torch.OutOfMemoryError):
        evaluate([run], [range(6)], Batched(CPU), lambda_grid(3))
