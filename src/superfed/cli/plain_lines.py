"""Progress where nobody looks on, as in a log: a line now and then."""

from rich.console import Console

from superfed.cli.tally import Tally, accuracy_of, mean_accuracy
from superfed.engine.simulation import Run

MOST_NAMES = 12


class PlainLines:
    """The state of all runs with every tenth of the rounds, and a line for each that ends."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._tally = Tally([], [])
        self._told = 0

    def close(self) -> None: ...

    def started(self, names: list[str], runs: list[Run]) -> None:
        self._tally = Tally(names, runs)
        self._told = self._tenth
        named = f": {', '.join(names)}" if len(names) <= MOST_NAMES else ""
        self._print(f"{len(runs)} run{'s' if len(runs) > 1 else ''}{named}")

    def say(self, words: str) -> None:
        self._print(words)

    def lane_done(self, run: int) -> None: ...

    def round_done(self, run: int) -> None:
        tally = self._tally
        tally.round_done(run)
        if self._tenth == self._told:
            return
        self._told = self._tenth
        accuracy, left = mean_accuracy(tally.runs), tally.seconds_left
        words = [f"{tally.rounds} of {tally.total_rounds} rounds"]
        words += [] if accuracy is None else [f"mean accuracy {accuracy:.1%}"]
        words += [tally.counts] if "failed" in tally.counts else []
        words += [] if left is None else [f"about {left:.0f} s left"]
        self._print(", ".join(words))

    def evaluating(self, total: int) -> None:
        self._print(f"evaluating {total} clients")

    def client_evaluated(self) -> None: ...

    def run_done(self, run: int) -> None:
        if not self._tally.runs:  # evaluated anew
            return
        one, name = self._tally.runs[run], self._tally.names[run]
        self._tally.run_done(run)
        accuracy = accuracy_of(one)
        told = f", accuracy {accuracy:.1%} before its final evaluation" if accuracy is not None else ""
        self._print(f"{name}: {self._tally.states[run]} after {one.round} rounds{told}")

    def run_failed(self, run: int, reason: str) -> None:
        if self._tally.runs:
            self._tally.run_failed(run)
            self._print(f"{self._tally.names[run]}: failed: {reason}")

    @property
    def _tenth(self) -> int:
        return 10 * self._tally.rounds // max(self._tally.total_rounds, 1)

    def _print(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)
