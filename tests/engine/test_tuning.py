"""Clients that train on for themselves after the last round, before their models are evaluated."""

from dataclasses import replace

import numpy as np
import pytest

from superfed.algorithms import FedAvg, FedAvgFT
from superfed.core.errors import SettingError
from superfed.engine.adapt import adapt
from superfed.engine.evaluate import ClientScores, evaluate_client, lambda_grid
from superfed.engine.executors import Batched, Executor, OneAtATime
from superfed.engine.simulation import Run, evaluate
from superfed.engine.task import Schedule
from support.toys import CPU, METHODS, RAGGED, toy_task, train

LAMBDAS = lambda_grid(3)
EVERYONE = range(len(RAGGED))

every_method = pytest.mark.parametrize("name", METHODS)


def scores_of(run: Run, executor: Executor | None = None, *, brief: bool = False) -> list[ClientScores]:
    (scores,) = evaluate([run], [EVERYONE], executor or OneAtATime(CPU), LAMBDAS, brief=brief)
    return scores


def losses(scores: list[ClientScores]) -> np.ndarray:
    return np.array([one.test["loss"] for one in scores])


def retold(run: Run, epochs: int) -> Run:
    """The same run, with so many epochs for each client at its end."""
    task = replace(run.task, schedule=replace(run.task.schedule, tuning_epochs=epochs))
    return Run(task, run.states, run.server, run.round)


@every_method
def test_models_are_those_that_a_round_of_ones_own_makes(name: str) -> None:
    (run,) = train([toy_task(METHODS[name])])
    tuned = scores_of(retold(run, 2))
    epochs = run.task.algorithm.adapt_epochs + 2
    for client in EVERYONE:
        kept = run.states.get(client) or run.task.init_client(client)
        kept, server = adapt(run.task, client, kept, run.server, epochs)
        expected = evaluate_client(run.task, client, kept, server, LAMBDAS)
        np.testing.assert_array_equal(tuned[client].test["loss"], expected.test["loss"])
        np.testing.assert_array_equal(tuned[client].validation["loss"], expected.validation["loss"])
    assert not np.array_equal(losses(tuned), losses(scores_of(run)))


@every_method
def test_together_they_are_tuned_as_alone(name: str) -> None:
    (run,) = train([toy_task(METHODS[name])])
    tuned = retold(run, 1)
    np.testing.assert_allclose(losses(scores_of(tuned, Batched(CPU))), losses(scores_of(tuned)), rtol=0, atol=1e-10)


def test_fedavg_that_is_tuned_is_fine_tuning() -> None:
    first, second = train([toy_task(FedAvg(), tuning_epochs=2), toy_task(FedAvgFT(epochs=2))])
    np.testing.assert_array_equal(losses(scores_of(first)), losses(scores_of(second)))


@every_method
def test_training_knows_nothing_of_it(name: str) -> None:
    task = toy_task(METHODS[name], tuning_epochs=3)
    assert task.identity == toy_task(METHODS[name]).identity
    first, second = train([task, toy_task(METHODS[name])])
    np.testing.assert_array_equal(losses(scores_of(first, brief=True)), losses(scores_of(second, brief=True)))


def test_a_negative_number_is_a_sentence() -> None:
    with pytest.raises(SettingError, match=r"tuning_epochs: must be 0 or more, not -1"):
        Schedule(rounds=1, tuning_epochs=-1)
