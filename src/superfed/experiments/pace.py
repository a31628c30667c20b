"""How often checkpoints are written where nobody said how often."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY = 10
"""Rounds, unless that were too often."""
SHARE = 20
"""Checkpoints take about a twentieth of the time at most: a killed run loses no more than that many times one's cost."""


class Pace:
    """Says whether the time has come for another checkpoint, going by what the last one cost."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._not_before = -float("inf")

    def allows(self, round: int) -> bool:
        return round % EVERY == 0 and self._now() >= self._not_before

    @contextmanager
    def writing(self) -> Iterator[None]:
        began = self._now()
        yield
        ended = self._now()
        self._not_before = ended + SHARE * (ended - began)
