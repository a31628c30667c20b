"""Runs in which one client of ten means harm, and runs whose uploads carry noise."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy

from superfed.core.aggregation import AGGREGATIONS, Aggregation, Mean
from superfed.core.privacy import Privacy
from superfed.engine.executors import Batched, OneAtATime
from superfed.engine.lanes import Lane
from superfed.engine.local import Update
from superfed.engine.simulation import Run, advance
from superfed.engine.task import Task
from superfed.experiments.privacy import privacy_spent
from support.toys import CPU, METHODS, assert_same, toy_data, toy_task, train

ROUNDING = 1e-10


class OneMalicious(OneAtATime):
    """Sends, for client 0, a long way in the wrong direction."""

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]:
        for place, update in super().update(lanes):
            lane = lanes[place]
            if lane.client == 0:
                far = {n: lane.sent[n] - 1000 * (t - lane.sent[n]) for n, t in update.upload.items()}
                update = Update(update.kept, far)
            yield place, update


def trained(task: Task, malicious: bool) -> Run:
    run = Run(task)
    while not run.finished:
        list(advance([run], OneMalicious(CPU) if malicious else OneAtATime(CPU)))
    return run


def ten_clients(aggregation: Aggregation) -> Task:
    return replace(
        toy_task(METHODS["fedavg"], data=toy_data([20] * 10), clients_per_round=10, rounds=8), aggregation=aggregation
    )


def loss_of(run: Run) -> float:
    """On the samples of the nine that mean no harm."""
    samples = [run.task.data.train(client) for client in range(1, 10)]
    x, y = torch.cat([s.x for s in samples]), torch.cat([s.y for s in samples])
    return float(cross_entropy(run.task.model.apply(run.server["w"], x), y))


@pytest.mark.parametrize("name", [name for name in AGGREGATIONS if name != "mean"])
def test_a_malicious_client_ruins_the_mean_and_not_these(name: str) -> None:
    honest = loss_of(trained(ten_clients(Mean()), malicious=False))
    ruined = loss_of(trained(ten_clients(Mean()), malicious=True))
    robust = loss_of(trained(ten_clients(AGGREGATIONS[name]()), malicious=True))
    assert honest < 0.8
    assert ruined > 3 * honest
    assert robust < 1.3 * honest


@pytest.mark.parametrize("name", ["superfed", "scaffold", "fedrep", "pfedme"])
def test_noise_is_drawn_by_key_and_shared_by_all_runtimes(name: str) -> None:
    task = replace(toy_task(METHODS[name]), privacy=Privacy(clip=0.5, noise=0.3))
    (alone,), (together,) = train([task]), train([task], Batched(CPU))
    assert_same(alone, together, ROUNDING)
    (without,) = train([toy_task(METHODS[name])])
    assert any(not torch.equal(alone.server[key], without.server[key]) for key in without.server)


def test_what_a_run_spent_is_that_of_its_busiest_client() -> None:
    task = replace(toy_task(METHODS["fedavg"]), privacy=Privacy(clip=1.0, noise=4.0, delta=1e-6))
    (run,) = train([task])
    spent = privacy_spent(run)
    times = [sum(client in record.cohort for record in run.records) for client in task.members]
    assert spent["times"] == max(times)
    assert spent["delta"] == 1e-6
    assert spent["epsilon"] > 0
    (bare,) = train([replace(task, privacy=Privacy(clip=1.0, noise=0.0))])
    assert privacy_spent(bare)["epsilon"] is None


def test_a_checkpoint_of_one_is_of_no_use_to_the_other() -> None:
    task = toy_task(METHODS["fedavg"])
    every = [
        task,
        replace(task, privacy=Privacy(1.0, 1.0)),
        *(replace(task, aggregation=a()) for a in AGGREGATIONS.values()),
    ]
    assert len({one.identity for one in every}) == len(AGGREGATIONS) + 1
