"""What is drawn ahead, or once for several runs, is what each client would have drawn by itself."""

import pytest
import torch

from superfed.engine.lanes import Lane
from superfed.engine.plan import PhasePlan, plan_update
from superfed.engine.plans_ahead import PlansAhead
from superfed.engine.task import Task
from support.toys import METHODS, toy_task


def lanes_of(task: Task, round: int, run: int = 0) -> list[Lane]:
    return [Lane(run, task, client, round, task.init_server(), lambda: None) for client in task.cohort(round)]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The client and round of every plan that is drawn."""
    every: list[tuple[int, int]] = []

    def noted(task: Task, client: int, round: int) -> list[PhasePlan]:
        every.append((client, round))
        return plan_update(task, client, round)

    monkeypatch.setattr("superfed.engine.plans_ahead.plan_update", noted)
    return every


def assert_own(lanes: list[Lane], found: list[list[PhasePlan]]) -> None:
    for lane, plans in zip(lanes, found, strict=True):
        for mine, alone in zip(plans, plan_update(lane.task, lane.client, lane.round), strict=True):
            assert (mine.table == alone.table).all()
            assert torch.equal(mine.noise["lam"], alone.noise["lam"])


def test_runs_of_one_seed_share_what_they_draw_alike(drawn: list[tuple[int, int]]) -> None:
    tasks = [toy_task(METHODS["superfed"], seed=0, lr=lr) for lr in (0.1, 0.2)]
    tasks += [toy_task(METHODS["superfed"], seed=1), toy_task(METHODS["superfed"], seed=0, local_epochs=3)]
    lanes = [Lane(run, task, 3, 2, task.init_server(), lambda: None) for run, task in enumerate(tasks)]
    found = PlansAhead().of(lanes)
    assert len(drawn) == 3
    assert_own(lanes, [list(plans) for plans in found])


def test_the_next_round_is_drawn_ahead(drawn: list[tuple[int, int]]) -> None:
    task, ahead = toy_task(METHODS["superfed"]), PlansAhead()
    ahead.draw(lanes_of(task, 0))
    before = list(drawn)
    assert sorted(before) == [(client, 1) for client in task.cohort(1)]
    following = lanes_of(task, 1)
    assert_own(following, [list(plans) for plans in ahead.of(following)])
    assert drawn == before


def test_nothing_is_drawn_after_the_last_round(drawn: list[tuple[int, int]]) -> None:
    task = toy_task(METHODS["superfed"])
    PlansAhead().draw(lanes_of(task, task.schedule.rounds - 1))
    assert drawn == []


def test_large_plans_are_not_hoarded(drawn: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("superfed.engine.plans_ahead.MOST", 1)
    task, ahead = toy_task(METHODS["superfed"]), PlansAhead()
    ahead.draw(lanes_of(task, 0))
    assert len(drawn) == 1
    following = lanes_of(task, 1)
    assert_own(following, [list(plans) for plans in ahead.of(following)])
