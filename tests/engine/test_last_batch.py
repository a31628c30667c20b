"""The samples that are left over when an epoch is cut into batches: a small batch, none, or spread over all."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from superfed.core.algorithm import Algorithm
from superfed.core.batch import LastBatch
from superfed.core.errors import SettingError
from superfed.core.norm import BatchNorm
from superfed.core.vector import VectorModel
from superfed.engine.executors import Batched
from superfed.engine.plan import num_steps, plan_update
from superfed.engine.task import Schedule, Task
from support.toys import CPU, METHODS, RAGGED, assert_same, toy_data, toy_task, train

every_choice = pytest.mark.parametrize("last", ["keep", "drop", "even"])


def task_with(last: LastBatch, algorithm: Algorithm = METHODS["fedavg"]) -> Task:
    task = toy_task(algorithm)
    return replace(task, schedule=replace(task.schedule, last_batch=last))


@every_choice
@pytest.mark.parametrize("name", METHODS)
def test_lanes_computed_together_equal_clients_computed_alone(last: LastBatch, name: str) -> None:
    task = task_with(last, METHODS[name])
    (alone,), (together,) = train([task]), train([task], Batched(CPU))
    assert_same(alone, together, 1e-10)


def test_runs_that_cut_differently_can_be_computed_together() -> None:
    tasks = [task_with("keep"), task_with("drop"), task_with("even")]
    for task, run in zip(tasks, train(tasks, Batched(CPU)), strict=True):
        (alone,) = train([task])
        assert_same(alone, run, 1e-10)


@every_choice
def test_as_many_steps_are_planned_as_are_counted(last: LastBatch) -> None:
    task = task_with(last)
    for client in range(len(RAGGED)):
        assert sum(plan.steps for plan in plan_update(task, client, 0)) == num_steps(task, client)


def test_batches_of_a_plan() -> None:
    client = RAGGED.index(23)
    sizes = {}
    for last in ("keep", "drop", "even"):
        (plan,) = plan_update(task_with(last), client, 0)
        sizes[last] = (plan.table >= 0).sum(axis=1).tolist()
    assert sizes == {"keep": [5, 5, 5, 5, 3] * 2, "drop": [5, 5, 5, 5] * 2, "even": [5, 5, 5, 4, 4] * 2}


def test_each_choice_is_a_run_of_its_own_and_the_usual_one_is_what_it_was() -> None:
    identities = {last: task_with(last).identity for last in ("keep", "drop", "even")}
    assert len(set(identities.values())) == 3
    assert "last_batch" not in repr(task_with("keep").schedule)  # which older checkpoints are named by


def test_another_word_is_refused() -> None:
    with pytest.raises(SettingError, match=re.escape("must be one of keep, drop, even, not 'cut'")):
        Schedule(rounds=1, last_batch="cut")  # type: ignore[arg-type]


class TestSmallBatchesUnderBatchNormalisation:
    """23 = 2 · 10 + 3 samples end with a small batch, 24 and 20 do not."""

    SIZES = (23, 24, 20, 2)

    def task(self, norm: nn.Module, last: LastBatch, batch_size: int = 10) -> Task:
        model = VectorModel(lambda: nn.Sequential(nn.Linear(6, 4), norm, nn.ReLU(), nn.Linear(4, 3)).double())
        schedule = Schedule(rounds=1, clients_per_round=2, batch_size=batch_size, last_batch=last)
        return Task(METHODS["fedavg"], model, toy_data(self.SIZES), schedule)

    @pytest.mark.parametrize("norm", [BatchNorm(4), nn.BatchNorm1d(4, track_running_stats=False)])
    def test_a_warning_says_how_many_and_what_to_do(self, norm: nn.Module) -> None:
        with pytest.warns(UserWarning, match=r"^1 of 4 clients end every epoch with a batch of 3 .*last_batch=even"):
            self.task(norm, "keep").check()

    @pytest.mark.parametrize(
        ("norm", "last", "batch_size"),
        [
            (BatchNorm(4), "drop", 10),
            (BatchNorm(4), "even", 10),
            (BatchNorm(4), "keep", 3),
            (nn.LayerNorm(4), "keep", 10),
        ],
        ids=["dropped", "even", "all-are-small", "nothing-depends-on-the-batch"],
    )
    def test_nobody_is_warned_without_need(self, norm: nn.Module, last: LastBatch, batch_size: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.task(norm, last, batch_size).check()

    def test_two_samples_say_nothing_but_which_is_the_larger(self) -> None:
        """Why: whatever a channel's two values are, they become 1 and -1."""
        norm = BatchNorm(3).double()
        x = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 3)) * [100, 10, 1])
        torch.testing.assert_close(norm(x).abs(), torch.ones(2, 3, dtype=torch.float64), rtol=2e-3, atol=0)
