"""How far an experiment has come, run by run."""

import time
from collections import Counter
from collections.abc import Iterable

from superfed.engine.simulation import Run

RUNNING, TRAINED, FAILED, STOPPED, DONE = "running", "trained", "failed", "stopped", "done"


def accuracy_of(run: Run) -> float | None:
    """Mean accuracy over the clients followed, at λ = 0.5 where there is a λ; None before the first evaluation."""
    nearest, found = float("inf"), None
    for point in reversed(run.curve):
        if point.round != run.curve[-1].round:
            break
        distance = 0.0 if point.lam != point.lam else abs(point.lam - 0.5)
        if distance < nearest:
            nearest, found = distance, point.top1
    return found


def mean_accuracy(runs: Iterable[Run]) -> float | None:
    """Over the runs of which any is known."""
    known = [accuracy for run in runs if (accuracy := accuracy_of(run)) is not None]
    return sum(known) / len(known) if known else None


class Tally:
    """Counts what is done. A client, a round or a run more costs the same however many there are."""

    def __init__(self, names: list[str], runs: list[Run]) -> None:
        self.names, self.runs = names, runs
        self.states = [TRAINED if run.finished else RUNNING for run in runs]
        self.rounds = sum(run.round for run in runs)
        self.total_rounds = sum(run.task.schedule.rounds for run in runs)
        self.evaluated, self.to_evaluate = 0, 0
        self._lanes = [0] * len(runs)
        self._first, self._began = self.rounds, time.monotonic()

    def lane_done(self, run: int) -> None:
        """A round that is computed once more, since something failed, counts its clients once all the same."""
        self._lanes[run] = min(self._lanes[run] + 1, self.runs[run].task.cohort_size)

    def round_done(self, run: int) -> None:
        """One that ended its run, since no update of it was finite, is not counted."""
        self._lanes[run] = 0
        self.rounds += self.runs[run].stopped is None
        if self.runs[run].finished:
            self.states[run] = TRAINED
            self._drop_rounds(run)

    def run_done(self, run: int) -> None:
        self.states[run] = DONE if self.runs[run].stopped is None else STOPPED

    def run_failed(self, run: int) -> None:
        if self.states[run] == RUNNING:
            self._drop_rounds(run)
        self._lanes[run] = 0
        self.states[run] = FAILED

    def evaluating(self, total: int) -> None:
        self.evaluated, self.to_evaluate = 0, total
        self._began = time.monotonic()

    def clients(self, run: int) -> int:
        """How many clients' updates of a run are done."""
        return self.runs[run].round * self.runs[run].task.cohort_size + self._lanes[run]

    @property
    def seconds_left(self) -> float | None:
        """Of training or of the final evaluation, at the pace so far; None while there is none."""
        done, total = self.rounds - self._first, self.total_rounds - self._first
        if self.to_evaluate:
            done, total = self.evaluated, self.to_evaluate
        return None if done == 0 else (time.monotonic() - self._began) / done * max(total - done, 0)

    @property
    def counts(self) -> str:
        """So many of each kind, in words."""
        found = Counter(self.states)
        kinds = (RUNNING, TRAINED, DONE, STOPPED, FAILED)
        return ", ".join(f"{found[kind]} {kind}" for kind in kinds if found[kind])

    def _drop_rounds(self, run: int) -> None:
        """Rounds that will never be done are not waited for."""
        self.total_rounds -= self.runs[run].task.schedule.rounds - self.runs[run].round
