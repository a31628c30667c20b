"""Clients kept from training: drawn once, never sampled, served afterwards in two ways."""

from dataclasses import replace

import pytest
import torch

from superfed.core.algorithm import Algorithm
from superfed.core.errors import SettingError
from superfed.engine.adapt import adapt
from superfed.engine.evaluate import evaluate_arrival, lambda_grid
from superfed.engine.executors import OneAtATime
from superfed.engine.local import local_update
from superfed.engine.simulation import Run
from superfed.engine.task import Task
from superfed.experiments.newcomers import meet_newcomers
from support.toys import CPU, METHODS, toy_task, train

WITHOUT_GLOBAL_MODEL = {"local", "lg_fedavg", "fedper", "fedrep"}

every_method = pytest.mark.parametrize("name", METHODS)


def with_newcomers(algorithm: Algorithm, share: float = 0.34) -> Task:
    return replace(toy_task(algorithm), newcomers=share)


def test_newcomers_are_never_sampled_and_nobody_else_is_kept_out() -> None:
    task = with_newcomers(METHODS["fedavg"])
    apart = set(task.newcomer_clients)
    assert len(apart) == 2
    sampled = {client for r in range(200) for client in task.cohort(r)}
    assert sampled == set(range(6)) - apart


def test_they_are_the_same_every_time_and_others_for_another_seed() -> None:
    task = with_newcomers(METHODS["fedavg"])
    assert task.newcomer_clients == replace(task).newcomer_clients
    assert any(replace(task, seed=seed).newcomer_clients != task.newcomer_clients for seed in range(5))


def test_without_newcomers_nothing_changes() -> None:
    task = toy_task(METHODS["fedavg"])
    assert replace(task, newcomers=0.0).cohort(1) == task.cohort(1)


def test_too_many_to_fill_a_cohort_is_a_sentence() -> None:
    with pytest.raises(SettingError, match="3 clients a round are more than the 1 there are"):
        with_newcomers(METHODS["fedavg"], 0.83)


@every_method
def test_arriving_is_the_global_model_or_impossible(name: str) -> None:
    (run,) = train([with_newcomers(METHODS[name])])
    client = run.task.newcomer_clients[0]
    scores = evaluate_arrival(run.task, client, run.server)
    if name in WITHOUT_GLOBAL_MODEL:
        assert scores is None
        return
    assert scores is not None
    w = run.task.algorithm.global_model(run.server)
    assert w is not None
    test = run.task.data.test(client)
    expected = (run.task.model.apply(w, test.x).argmax(1) == test.y).double().mean()
    assert float(scores.test["top1"][0]) == float(expected)


@every_method
def test_after_some_epochs_the_client_has_what_a_round_of_its_own_gives(name: str) -> None:
    (run,) = train([with_newcomers(METHODS[name])])
    task, client = run.task, run.task.newcomer_clients[0]
    kept, server = adapt(task, client, task.init_client(client), run.server, 2)
    alone = replace(task, schedule=replace(task.schedule, local_epochs=2, lr_decay=1.0))
    update = local_update(alone, client, task.schedule.rounds, task.init_client(client), run.sent(CPU))
    assert all(torch.equal(kept[part], t) for part, t in update.kept.items())
    expected = run.server
    if update.upload:
        stacked = {part: t[None] for part, t in update.upload.items()}
        expected = task.aggregate(run.server, stacked, [client])
    assert all(torch.equal(server[part], t) for part, t in expected.items())


@every_method
def test_adapting_leaves_the_run_as_it_was(name: str) -> None:
    (run,) = train([with_newcomers(METHODS[name])])
    before = {part: t.clone() for part, t in run.server.items()}
    met = meet_newcomers(run, OneAtATime(CPU), lambda_grid(3), epochs=8)
    assert all(torch.equal(run.server[part], t) for part, t in before.items())
    assert (met.arriving is None) == (name in WITHOUT_GLOBAL_MODEL)
    assert met.summary()["num_clients"] == 2
    table = met.table()
    assert {len(values) for values in table.values()} == {len(table["client"])}
    assert set(table["way"]) == {"adapted"} | (set() if name in WITHOUT_GLOBAL_MODEL else {"arriving"})
    assert all(run.states.get(client) is None for client in run.task.newcomer_clients)


def test_a_run_without_newcomers_has_nobody_to_meet() -> None:
    assert Run(toy_task(METHODS["fedavg"])).task.newcomer_clients == []
