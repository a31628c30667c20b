"""An update that is not finite harms nobody but itself, and is counted."""

import numpy as np
import pytest
import torch

from superfed.algorithms import FedAvg, SuPerFed
from superfed.data.own import ClientArrays, OwnData
from superfed.engine.executors import Batched, Executor, OneAtATime
from superfed.engine.local import Update, local_update
from superfed.engine.simulation import Run
from support.toys import CPU, METHODS, toy_task, train


def with_one_huge_client() -> OwnData:
    """Client 1's inputs are finite and so large that its loss overflows."""
    rng = np.random.default_rng(0)

    def client(scale: float) -> ClientArrays:
        part = (rng.normal(size=(10, 6)) * scale, rng.integers(0, 3, 10))
        return ClientArrays(train=part, validation=part, test=part)

    return OwnData.from_clients([client(1.0), client(1e300), client(1.0)], num_classes=3)


def linear_task(lr: float, rounds: int = 3) -> "Run":
    from superfed.core.vector import VectorModel
    from superfed.engine.task import Schedule, Task

    model = VectorModel(lambda: torch.nn.Linear(6, 3).double())
    schedule = Schedule(rounds=rounds, clients_per_round=3, local_epochs=1, batch_size=5, lr=lr)
    return Run(Task(SuPerFed(start=0), model, with_one_huge_client(), schedule))


@pytest.mark.parametrize("executor", [OneAtATime(CPU), Batched(CPU)], ids=["one at a time", "batched"])
def test_a_diverged_client_is_left_out_and_keeps_its_state(executor: Executor) -> None:
    from support.toys import go_on

    run = linear_task(lr=1e10)
    go_on([run], executor, rounds=1)
    assert run.stopped is None
    assert run.records[0].diverged == [1]
    assert run.records[0].samples == 20
    assert run.states.get(1) is None
    assert torch.isfinite(run.server["w"]).all()


def test_the_others_are_averaged_as_if_it_were_not_there() -> None:
    task = toy_task(FedAvg())
    sent = Run(task).sent(CPU)
    updates = {client: local_update(task, client, 0, {}, sent) for client in (1, 3)}
    bad = Update({}, {"w": torch.full_like(sent["w"], float("inf"))})
    with_bad, without = Run(task), Run(task)
    with_bad.complete_round({**updates, 2: bad}, sent)
    without.complete_round(updates, sent)
    assert torch.equal(with_bad.server["w"], without.server["w"])
    assert with_bad.records[0].diverged == [2]
    assert with_bad.records[0].bytes_up == without.records[0].bytes_up


def test_a_state_that_is_not_finite_counts_too() -> None:
    task = toy_task(METHODS["superfed"])
    run = Run(task)
    sent = run.sent(CPU)
    good = {client: local_update(task, client, 0, task.init_client(client), sent) for client in (1, 3)}
    bad = Update({"w_l": torch.full_like(sent["w"], float("nan"))}, good[1].upload)
    run.complete_round({**good, 2: bad}, sent)
    assert run.records[0].diverged == [2]
    assert run.states.get(2) is None


def test_a_run_in_which_all_diverge_stops_with_a_sentence_and_others_go_on() -> None:
    sick, well = train([toy_task(FedAvg(), lr=1e308), toy_task(FedAvg())])
    assert sick.stopped == "every client's update in round 0 was not finite; try a smaller lr (it was 1e+308)"
    assert sick.finished
    assert sick.round == 0
    assert well.stopped is None
    assert well.round == 4
