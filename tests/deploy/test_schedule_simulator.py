"""Schedules whose answers are known: sums, bounds, and who pays for starting and compiling."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.deploy.ray.schedule import Job, Overheads, Schedule, simulate

FREE = Overheads(start=0.0, first_on_node=0.0)
lengths = st.lists(st.integers(1, 1000), min_size=1, max_size=40)


def jobs(*seconds: float) -> list[Job]:
    return [Job(f"task {place}", length) for place, length in enumerate(seconds)]


def without_overheads(seconds: list[int], slots: int) -> Schedule:
    return simulate(jobs(*seconds), slots, overheads=FREE)


@settings(deadline=None)
@given(lengths)
def test_one_slot_takes_the_sum(seconds: list[int]) -> None:
    schedule = without_overheads(seconds, 1)
    assert schedule.makespan == schedule.used == schedule.held == sum(seconds)
    assert schedule.busy == 1
    assert schedule.limit().cause == "work"


@settings(deadline=None)
@given(lengths, st.integers(1, 12))
def test_between_the_lower_bounds_and_grahams(seconds: list[int], slots: int) -> None:
    """No schedule beats the longest task or the mean; longest first is at most 4/3 - 1/3m times the best."""
    makespan = without_overheads(seconds, slots).makespan
    ranked = sorted(seconds, reverse=True)
    least = max(ranked[0], sum(seconds) / slots)
    if len(ranked) > slots:
        least = max(least, ranked[slots - 1] + ranked[slots])  # two of so many must share a slot
    assert least <= makespan + 1e-9
    assert makespan <= sum(seconds) / slots + ranked[0] * (1 - 1 / slots) + 1e-9


def test_grahams_own_example() -> None:
    """Longest first needs 11 where 9 were possible: the bound is met."""
    assert without_overheads([5, 5, 4, 4, 3, 3, 3], 3).makespan == 11


@settings(deadline=None)
@given(lengths, st.integers(1, 12), st.integers(1, 4), st.floats(0, 5), st.floats(0, 50))
def test_tasks_follow_one_another(seconds: list[int], slots: int, per_node: int, start: float, first: float) -> None:
    given = [Job("x", length, program=length % 3, compiling=7.0) for length in seconds]
    schedule = simulate(given, slots, slots_per_node=per_node, overheads=Overheads(start, first))
    assert len(schedule.tasks) == len(seconds)
    for slot in range(slots):
        here = [task for task in schedule.tasks if task.slot == slot]
        assert all(one.end == next.begin for one, next in pairwise(here))
        assert all(task.begin + start <= task.ready < task.end for task in here)
    begins = [task.begin for task in schedule.tasks]
    assert begins == sorted(begins)
    assert schedule.makespan >= without_overheads(seconds, slots).makespan


def test_more_slots_than_tasks_change_nothing() -> None:
    assert without_overheads([3, 2, 1], 3).makespan == without_overheads([3, 2, 1], 64).makespan == 3


def test_a_node_is_opened_once_and_everybody_on_it_waits() -> None:
    schedule = simulate(jobs(10, 10, 10, 10), 4, slots_per_node=2, overheads=Overheads(1.0, 8.0))
    assert [task.ready for task in schedule.tasks] == [9, 9, 9, 9]
    later = simulate(jobs(10, 10), 1, overheads=Overheads(1.0, 8.0))
    assert [(task.begin, task.ready, task.end) for task in later.tasks] == [(0, 9, 19), (19, 20, 30)]


def test_a_program_is_compiled_once_on_each_node() -> None:
    same = [Job("x", 10.0, program="p", compiling=30.0)] * 3
    assert simulate(same, 1, overheads=FREE).makespan == 30 + 3 * 10
    assert simulate(same, 3, overheads=FREE).makespan == 30 + 10  # at the same time nobody has it yet
    other = [Job("x", 10.0, program=name, compiling=30.0) for name in "pqr"]
    assert simulate(other, 1, overheads=FREE).makespan == 3 * (30 + 10)


def test_sums() -> None:
    schedule = simulate([Job("x", 90.0, "p", 10.0), Job("y", 40.0, "q", 10.0)], 2, overheads=FREE)
    assert (schedule.makespan, schedule.used, schedule.held, schedule.busy) == (100, 150, 200, 0.75)
    assert schedule.preparing == pytest.approx(20 / 150)


@pytest.mark.parametrize(
    ("given", "slots", "cause", "sentence"),
    [
        (jobs(100, 10, 10), 2, "longest", "one task takes 100% of the whole time: task 0, a single run"),
        ([Job("pFedMe", 100, runs=3), *jobs(9)], 2, "longest", "one task takes 100% of the whole time: pFedMe, 3 runs"),
        (jobs(10, 10, 10), 8, "few", "there are only 3 tasks for 8 devices"),
        (jobs(10, 10, 10), 2, "few", "3 tasks do not divide evenly among 2 devices"),
        (jobs(*[10] * 16), 8, "work", "the work itself: all devices are busy nearly to the end"),
        (jobs(3), 1, "work", "the work itself"),
        (
            [Job(name, 10, program=name, compiling=30) for name in "pqrs"],
            2,
            "preparing",
            "75% of the time in use goes into starting and compiling",
        ),
        ([], 8, "work", "there is nothing to do"),
    ],
)
def test_what_limits_it(given: list[Job], slots: int, cause: str, sentence: str) -> None:
    found = simulate(given, slots, overheads=FREE).limit()
    assert (found.cause, found.sentence) == (cause, sentence)


def test_there_must_be_a_slot() -> None:
    with pytest.raises(ValueError, match="slots: must be 1 or more, not 0"):
        simulate(jobs(1), 0)
