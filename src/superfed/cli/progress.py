"""How far an experiment has come: bars for a few runs, a board for many, plain lines where there is no terminal."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from superfed.cli.bars import Bars
from superfed.cli.board import Board
from superfed.cli.plain_lines import PlainLines
from superfed.engine.simulation import Run
from superfed.experiments.observer import Observer, Silent

MOST_BARS = 12


@contextmanager
def watching(console: Console) -> Iterator[Observer]:
    """An observer that shows progress on ``console`` until the block ends."""
    watcher = Watcher(console)
    try:
        yield watcher
    finally:
        watcher.close()


class Watcher(Silent):
    """Passes everything on to the view that suits the place and the number of runs, once that is known."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._chosen: Bars | Board | PlainLines | None = None

    def close(self) -> None:
        if self._chosen is not None:
            self._chosen.close()

    def started(self, names: list[str], runs: list[Run]) -> None:
        self._choose(len(runs)).started(names, runs)

    def compiling(self, what: str, seconds: float | None) -> None:
        told = f"compiling {what}" if seconds is None else f"compiled in {seconds:.1f} s"
        self._view.say(told)

    def lane_done(self, run: int) -> None:
        self._view.lane_done(run)

    def round_done(self, run: int) -> None:
        self._view.round_done(run)

    def evaluating(self, total: int) -> None:
        self._view.evaluating(total)

    def client_evaluated(self) -> None:
        self._view.client_evaluated()

    def run_done(self, run: int) -> None:
        self._view.run_done(run)

    def run_failed(self, run: int, reason: str) -> None:
        self._view.run_failed(run, reason)

    @property
    def _view(self) -> Bars | Board | PlainLines:
        return self._choose(1) if self._chosen is None else self._chosen

    def _choose(self, num_runs: int) -> Bars | Board | PlainLines:
        view = PlainLines if not self._console.is_terminal else Bars if num_runs <= MOST_BARS else Board
        self._chosen = view(self._console)
        return self._chosen
