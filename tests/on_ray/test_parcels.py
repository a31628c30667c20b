"""Parcels that were lost: sent again, divided, given up."""

import itertools
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from superfed.deploy.ray.parcels import Item, Parcel, sent_again


def parcel(count: int, *, attempt: int = 0, crashes: int = 0) -> Parcel:
    items = tuple(Item(place, f"run {place}", Path(f"run{place}"), {}) for place in range(count))
    return Parcel(0, items, attempt, crashes)


def places(parcels: list[Parcel]) -> list[list[int]]:
    return [[item.place for item in one.items] for one in parcels]


def test_a_first_loss_is_nobodys_fault() -> None:
    (again,) = sent_again(parcel(3), itertools.count(1), blameless=False)
    assert (again.number, again.attempt, again.crashes) == (0, 1, 1)
    assert places([again]) == [[0, 1, 2]]


def test_the_second_divides_it() -> None:
    again = sent_again(parcel(3, attempt=1, crashes=1), itertools.count(7), blameless=False)
    assert places(again) == [[0], [1, 2]]
    assert [(one.number, one.attempt, one.crashes) for one in again] == [(7, 0, 1), (8, 0, 1)]


def test_one_run_by_itself_is_given_up() -> None:
    assert sent_again(parcel(1, crashes=1), itertools.count(), blameless=False) == []


def test_blameless_it_is_tried_as_often_as_need_be() -> None:
    (again,) = sent_again(parcel(2, attempt=5, crashes=1), itertools.count(), blameless=True)
    assert (again.attempt, again.crashes, len(again.items)) == (6, 0, 2)


@given(st.integers(1, 40), st.data())
def test_whoever_kills_its_process_is_found_and_nobody_else_is_given_up(count: int, data: st.DataObject) -> None:
    deadly = data.draw(st.sets(st.integers(0, count - 1)))
    numbers, waiting, done, given_up = itertools.count(1), [parcel(count)], set[int](), set[int]()
    for _ in range(10 * count):
        if not waiting:
            break
        one = waiting.pop(0)
        if not deadly & {item.place for item in one.items}:
            done |= {item.place for item in one.items}
            continue
        again = sent_again(one, numbers, blameless=False)
        if not again:
            given_up |= {item.place for item in one.items}
        waiting += again
    assert given_up == deadly
    assert done == set(range(count)) - deadly


def test_what_ended_meanwhile_is_not_sent_again() -> None:
    assert places([parcel(3).without({0, 2})]) == [[1]]
