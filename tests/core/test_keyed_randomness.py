"""Draws are decided by their key, and no two keys are the same."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.core.random import NOBODY, key, stream

INT64 = st.integers(-(2**63), 2**63 - 1)
ARGUMENTS = st.tuples(INT64, st.text(max_size=20), INT64, INT64)


def keyed(arguments: tuple[int, str, int, int]) -> int:
    seed, purpose, round, client = arguments
    return key(seed, purpose, round=round, client=client)


@given(one=ARGUMENTS, other=ARGUMENTS)
@settings(deadline=None)
def test_keys_are_equal_only_for_equal_arguments(
    one: tuple[int, str, int, int], other: tuple[int, str, int, int]
) -> None:
    assert (keyed(one) == keyed(other)) == (one == other)


@given(one=ARGUMENTS, place=st.integers(0, 3), data=st.data())
@settings(deadline=None)
def test_one_differing_argument_is_enough(one: tuple[int, str, int, int], place: int, data: st.DataObject) -> None:
    values: st.SearchStrategy[int | str] = st.text(max_size=20) if place == 1 else INT64
    changed: list[int | str] = list(one)
    changed[place] = data.draw(values.filter(lambda value: value != one[place]))
    assert keyed(one) != keyed(tuple(changed))  # type: ignore[arg-type]


def test_small_numbers_do_not_run_into_each_other() -> None:
    keys = {
        key(seed, purpose, round=round, client=client)
        for seed in range(5)
        for purpose in ("init", "noise/0", "noise/1", "")
        for round in range(NOBODY, 5)
        for client in range(NOBODY, 5)
    }
    assert len(keys) == 5 * 4 * 6 * 6
    assert all(0 <= k < 2**128 for k in keys)


def test_what_is_left_out_belongs_to_nobody() -> None:
    assert key(3, "cohort", round=2) == key(3, "cohort", round=2, client=-1)
    assert key(3, "init", client=2) == key(3, "init", round=-1, client=2)
    assert key(3, "init", client=2) != key(3, "init", round=2)


@given(arguments=ARGUMENTS)
@settings(deadline=None)
def test_streams_repeat_and_do_not_touch_numpys_own(arguments: tuple[int, str, int, int]) -> None:
    seed, purpose, round, client = arguments
    np.random.seed(0)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    one = stream(seed, purpose, round=round, client=client).random(4)
    again = stream(seed, purpose, round=round, client=client).random(4)
    assert one.tolist() == again.tolist()
    assert np.random.random() == expected  # noqa: NPY002


def test_streams_of_other_keys_are_other_numbers() -> None:
    draws = [stream(0, "noise/0", round=r, client=c).random() for r in range(10) for c in range(10)]
    assert len(set(draws)) == 100
    assert 0.4 < np.mean(draws) < 0.6


def test_the_numbers_of_old_runs_stay_what_they_were() -> None:
    assert key(0, "init") == 294484115901939126616179326768981540573
    rng = stream(7, "batches/0", round=3, client=12)
    assert rng.integers(0, 1000, 5).tolist() == [757, 941, 156, 753, 74]
    assert rng.random() == 0.33059856984435876
