"""Stopping politely: Ctrl-C and a plain kill end a run and say how to go on.

The exception that a signal raises can get lost inside compiled code that calls back into Python. So the wish is also
remembered, and heeded whenever a client's work is done.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import typer

from superfed.engine.simulation import Run
from superfed.experiments.observer import Observer


class Stop:
    """Whether a stop was asked for."""

    def __init__(self) -> None:
        self._asked = False

    def ask(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        raise KeyboardInterrupt

    def heed(self) -> None:
        if self._asked:
            raise KeyboardInterrupt


class Heeding:
    """An observer that passes everything on, and stops where a stop was asked for."""

    def __init__(self, observer: Observer, stop: Stop) -> None:
        self._observer, self._stop = observer, stop

    def started(self, names: list[str], runs: list[Run]) -> None:
        self._observer.started(names, runs)

    def compiling(self, what: str, seconds: float | None) -> None:
        self._stop.heed()
        self._observer.compiling(what, seconds)

    def lane_done(self, run: int) -> None:
        self._stop.heed()
        self._observer.lane_done(run)

    def round_done(self, run: int) -> None:
        self._observer.round_done(run)

    def evaluating(self, total: int) -> None:
        self._observer.evaluating(total)

    def client_evaluated(self) -> None:
        self._stop.heed()
        self._observer.client_evaluated()

    def run_done(self, run: int) -> None:
        self._observer.run_done(run)

    def run_failed(self, run: int, reason: str) -> None:
        self._stop.heed()
        self._observer.run_failed(run, reason)


@contextmanager
def stoppable(out: Path, again: str | None = None) -> Iterator[Stop]:
    """Whatever stops the block, what was checkpointed is there; say how to go on from it, or ``again`` if that is how."""
    stop = Stop()
    before = {number: signal.signal(number, stop.ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    except KeyboardInterrupt:
        if again is not None or (out / "experiment.json").exists():
            typer.echo(f"\nsuperfed: stopped; go on with: {again or f'superfed resume {out}'}", err=True)
        raise typer.Exit(130) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
