"""What a task tells, and what makes it stop."""

import time
import warnings

import pytest

from superfed.deploy.ray import telling
from superfed.deploy.ray.board import Board, Event
from superfed.deploy.ray.telling import Recalled, Telling


def wait_until(happened: object, seconds: float = 5.0) -> None:
    assert callable(happened)
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_all_is_told_in_order_and_the_last_at_the_end() -> None:
    heard: list[Event] = []

    def tell(events: list[Event]) -> bool:
        heard.extend(events)
        return True

    with Telling(tell) as one:
        for number in range(5):
            one.note("number", number)
    assert heard == [("number", number) for number in range(5)]


def test_warnings_are_told() -> None:
    heard: list[Event] = []

    def tell(events: list[Event]) -> bool:
        heard.extend(events)
        return True

    with Telling(tell):
        warnings.simplefilter("always")
        warnings.warn("a checkpoint cannot be used", stacklevel=1)
    assert heard == [("warned", "a checkpoint cannot be used")]


def test_a_recalled_task_stops() -> None:
    board = Board()
    board.expect(3, 0)
    with Telling(lambda events: board.tell(3, 0, events)) as one:
        one.heed()
        board.recall()
        wait_until(lambda: not one._go_on)
        with pytest.raises(Recalled):
            one.heed()


def test_a_replaced_task_stops_and_is_not_listened_to() -> None:
    board = Board()
    board.expect(3, 1)
    with Telling(lambda events: board.tell(3, 0, events)) as late:
        late.note("round", 7)
        with pytest.raises(Recalled):
            late.heed()
    assert board.news() == []
    assert board.tell(3, 1, [("round", 7)])
    assert board.news() == [("round", 7)]
    assert board.news() == []


def test_a_task_that_is_cut_off_stops_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "PATIENCE", 0.05)
    reachable = True

    def tell(events: list[Event]) -> bool:
        if not reachable:
            raise ConnectionError
        return True

    with Telling(tell) as one:
        one.heed()
        reachable = False
        time.sleep(0.1)
        with pytest.raises(Recalled):
            one.heed()


def test_what_could_not_be_told_is_told_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "EVERY", 0.01)
    heard: list[Event] = []
    failures = [ConnectionError(), ConnectionError()]

    def tell(events: list[Event]) -> bool:
        if events and failures:
            raise failures.pop()
        heard.extend(events)
        return True

    with Telling(tell) as one:
        one.note("first")
        wait_until(lambda: not failures)
        one.note("second")
    assert heard == [("first",), ("second",)]
