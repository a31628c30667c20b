"""Stopping politely: Ctrl-C and a plain kill end a run and say how to go on.

The exception that a signal raises can get lost inside compiled code that calls back into Python. So the wish is also
remembered, and heeded whenever a client's work is done.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import typer

from superfed.cli.logs import complain
from superfed.experiments.observer import Observer, Passing


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


class Heeding(Passing):
    """An observer that passes everything on, and stops where a stop was asked for."""

    def __init__(self, observer: Observer, stop: Stop) -> None:
        super().__init__(observer)
        self._stop = stop

    def compiling(self, what: str, seconds: float | None) -> None:
        self._stop.heed()
        super().compiling(what, seconds)

    def lane_done(self, run: int) -> None:
        self._stop.heed()
        super().lane_done(run)

    def client_evaluated(self) -> None:
        self._stop.heed()
        super().client_evaluated()

    def run_failed(self, run: int, reason: str) -> None:
        self._stop.heed()
        super().run_failed(run, reason)


@contextmanager
def stoppable(out: Path, again: str | None = None, options: str = "") -> Iterator[Stop]:
    """Whatever stops the block, what was checkpointed is there; say how to go on from it (with the same ``options``), or
    ``again`` if that is how."""
    stop = Stop()
    before = {number: signal.signal(number, stop.ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    except KeyboardInterrupt:
        if again is not None or (out / "experiment.json").exists():
            if sys.stderr.isatty():
                typer.echo(err=True)  # below the ^C that the terminal shows
            complain(f"stopped; go on with: {again or f'superfed resume {out}{options}'}")
        raise typer.Exit(130) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
