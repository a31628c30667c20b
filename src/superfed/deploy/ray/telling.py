"""A task's observer: what happens is told to the board, a few times a second."""

import threading
import time
import warnings
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TextIO

from superfed.deploy.ray.board import Event
from superfed.engine.evaluate import ClientScores
from superfed.engine.simulation import Run

EVERY = 0.25
"""Seconds between two tellings."""
PATIENCE = 30.0
"""Seconds without an answer, after which a task takes itself for lost. Ray gives up a machine that it cannot reach about as
soon, and has its runs continued elsewhere: there must not be two that write one run."""


class Recalled(BaseException):
    """The task is not to go on: it was stopped, or replaced."""


class Telling:
    """``tell`` takes events to the board and says whether to go on."""

    def __init__(self, tell: Callable[[list[Event]], bool]) -> None:
        self.places: Sequence[int] = ()
        """Of the task's runs among all runs of the job."""
        self._tell = tell
        self._runs: list[Run] = []
        self._events: list[Event] = []
        self._lanes: dict[int, int] = {}
        self._lock = threading.Lock()
        self._heard = time.monotonic()
        self._go_on, self._answered, self._ended = True, threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._keep_telling, name="superfed-telling", daemon=True)
        self._warnings: Any = None

    def __enter__(self) -> "Telling":
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        warnings.showwarning = self._warned
        self._thread.start()
        self._answered.wait()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        self._warnings.__exit__(kind, error, _)

    def note(self, *event: Any) -> None:
        """One more event; those of lanes that are done come before it."""
        with self._lock:
            self._gather_lanes()
            self._events.append(event)

    def started(self, names: list[str], runs: list[Run]) -> None:
        self._runs = runs
        for place, run in zip(self.places, runs, strict=True):
            self.note("begun", place, list(run.records), list(run.curve), run.stopped)

    def compiling(self, what: str, seconds: float | None) -> None:
        self.note("compiling", what, seconds)
        self.heed()

    def lane_done(self, run: int) -> None:
        with self._lock:
            self._lanes[run] = self._lanes.get(run, 0) + 1
        self.heed()

    def round_done(self, run: int) -> None:
        self.note("round", self.places[run], self._runs[run].records[-1], self._runs[run].stopped)

    def followed(self, run: int, scores: Sequence[ClientScores]) -> None:
        mine = self._runs[run]
        points = [point for point in mine.curve if point.round == mine.round]
        self.note("curve", self.places[run], points, list(scores))

    def saved(self, run: int) -> None:
        self.note("saved", self.places[run])

    def evaluating(self, total: int) -> None: ...

    def client_evaluated(self) -> None:
        self.note("evaluated")
        self.heed()

    def run_done(self, run: int) -> None:
        self.note("done", self.places[run])

    def run_failed(self, run: int, reason: str) -> None:
        self.note("failed", self.places[run], reason)
        self.heed()

    def heed(self) -> None:
        if not self._go_on or time.monotonic() - self._heard > PATIENCE:
            raise Recalled

    def _warned(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        self.note("warned", str(message))

    def _gather_lanes(self) -> None:
        for run, count in self._lanes.items():
            self._events.append(("lanes", self.places[run], self._runs[run].round, count))
        self._lanes = {}

    def _keep_telling(self) -> None:
        """In a thread of its own: Ray gives away the core of a task that waits for something in its own."""
        self._flush()
        self._answered.set()
        while not self._ended.wait(EVERY):
            self._flush()
        if self._go_on:
            self._flush()

    def _flush(self) -> None:
        with self._lock:
            self._gather_lanes()
            events, self._events = self._events, []
        try:
            self._go_on = self._tell(events)
            self._heard = time.monotonic()
        except Exception:  # whatever Ray raises where it cannot reach the board; ``heed`` knows for how long
            with self._lock:
                self._events = events + self._events
