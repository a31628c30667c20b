"""Runs become tasks: each once, longest first, together where that is quicker and apart where it would be too long."""

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from superfed.deploy.ray.packing import TOO_LONG, Load, pack
from superfed.engine.batched import WORTH_COMPILING

LONG = 10 * WORTH_COMPILING

loads = st.lists(
    st.builds(
        Load,
        key=st.sampled_from("abcd"),
        gradients=st.integers(1, 40 * WORTH_COMPILING),
        lanes=st.integers(1, 20),
        cost=st.sampled_from([0.5, 1.0, 5.0]),
    ),
    max_size=30,
)
slots = st.integers(1, 70)


def works(groups: list[list[int]], given: list[Load]) -> list[float]:
    return [sum(given[place].work for place in group) for group in groups]


def gradients(group: list[int], given: list[Load]) -> int:
    return sum(given[place].gradients for place in group)


@settings(deadline=None)
@given(loads, slots, st.booleans())
def test_every_run_is_in_one_task_and_the_longest_comes_first(given: list[Load], slots: int, batched: bool) -> None:
    groups = pack(given, slots, batched=batched)
    assert sorted(place for group in groups for place in group) == list(range(len(given)))
    assert all(groups)
    assert works(groups, given) == sorted(works(groups, given), reverse=True)
    assert groups == pack(given, slots, batched=batched)


@settings(deadline=None)
@given(loads, slots)
def test_on_cores_every_run_is_a_task(given: list[Load], slots: int) -> None:
    assert all(len(group) == 1 for group in pack(given, slots, batched=False))


@settings(deadline=None)
@given(loads, slots)
@example([Load("a", 4_267, 1, 0.5), Load("a", 199_025, 1, 1.0), Load("a", 396_708, 1, 0.5)], 2)
def test_a_task_has_one_program_and_is_no_longer_than_it_must_be(given: list[Load], slots: int) -> None:
    groups = pack(given, slots, batched=True)
    for group, work in zip(groups, works(groups, given), strict=True):
        assert len({given[place].key for place in group}) == 1
        fair = sum(load.work for load in given) / slots
        if len(group) > 1 and work > max(TOO_LONG * fair, *(load.work for load in given)):
            largest = max(given[place].gradients for place in group)  # then no half of it would be worth compiling
            assert gradients(group, given) - largest < WORTH_COMPILING or gradients(group, given) < 3 * WORTH_COMPILING


@settings(deadline=None)
@given(loads, slots)
def test_no_part_is_left_uncompiled_where_the_whole_would_be_compiled(given: list[Load], slots: int) -> None:
    whole = {key: sum(load.gradients for load in given if load.key == key) for key in "abcd"}
    for group in pack(given, slots, batched=True):
        key = str(given[group[0]].key)
        assert gradients(group, given) >= WORTH_COMPILING or whole[key] < WORTH_COMPILING


@settings(deadline=None)
@given(loads)
def test_on_one_device_nothing_is_divided(given: list[Load]) -> None:
    assert len(pack(given, 1, batched=True)) == len({load.key for load in given})


def equal(count: int, key: str = "a") -> list[Load]:
    return [Load(key, LONG, 5) for _ in range(count)]


@pytest.mark.parametrize(
    ("given", "slots", "sizes"),
    [
        (equal(8), 1, [8]),
        (equal(8), 2, [4, 4]),
        (equal(8), 8, [1] * 8),
        (equal(8), 64, [1] * 8),
        (equal(5) + equal(5, "b"), 2, [5, 5]),  # each has just its share: nothing is gained by dividing
        (equal(9) + equal(1, "b"), 2, [5, 4, 1]),
        ([*equal(3), Load("b", 9 * LONG, 5)], 64, [1, 3]),  # a single run takes longer, whatever is done
    ],
)
def test_known_cases(given: list[Load], slots: int, sizes: list[int]) -> None:
    assert [len(group) for group in pack(given, slots, batched=True)] == sizes


def test_halves_are_of_about_equal_work() -> None:
    sized = [Load("a", size * WORTH_COMPILING, 5) for size in (8, 7, 6, 5, 4)]
    assert works(pack(sized, 2, batched=True), sized) == [17 * WORTH_COMPILING, 13 * WORTH_COMPILING]


def test_what_a_step_costs_decides_which_is_longest() -> None:
    given = [Load("a", LONG, 5), Load("b", LONG, 5, cost=3.0)]
    assert pack(given, 2, batched=True) == [[1], [0]]


@pytest.mark.parametrize("call", [lambda: pack([], 0, batched=True), lambda: pack(equal(2), -1, batched=False)])
def test_there_must_be_a_device(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="slots: must be 1 or more"):
        call()
