"""What an observer is told, as log events."""

import time
from collections.abc import Sequence
from itertools import takewhile

from superfed.core.log import event
from superfed.engine.evaluate import ClientScores
from superfed.engine.simulation import Run
from superfed.experiments.observer import Followed, Observer, Passing


class Logged(Passing):
    """An observer that passes everything on, and logs what is worth a line."""

    def __init__(self, members: Sequence[Followed], observer: Observer) -> None:
        super().__init__(observer)
        self._titles, self._runs = [member.title for member in members], [member.run for member in members]
        self._began = time.monotonic()

    def started(self, names: list[str], runs: list[Run]) -> None:
        for name, run in zip(names, runs, strict=True):
            total = run.task.schedule.rounds
            event("run", f"{name}: {run.round} of {total} rounds done", run=name, round=run.round, rounds=total)
        super().started(names, runs)

    def compiling(self, what: str, seconds: float | None) -> None:
        words = f"compiling {what}" if seconds is None else f"compiled {what} in {seconds:.1f} s"
        event("compile", words, what=what, seconds=seconds)
        super().compiling(what, seconds)

    def round_done(self, run: int) -> None:
        name, record, total = self._titles[run], self._runs[run].records[-1], self._runs[run].task.schedule.rounds
        words = f"{name}: round {record.round + 1} of {total}, {len(record.cohort)} clients, {record.samples} samples"
        lost = f", {len(record.diverged)} diverged" if record.diverged else ""
        counts = {"clients": len(record.cohort), "diverged": len(record.diverged), "samples": record.samples}
        sent = {"bytes_down": record.bytes_down, "bytes_up": record.bytes_up}
        event("round", words + lost, run=name, round=record.round + 1, rounds=total, **counts, **sent)
        super().round_done(run)

    def followed(self, run: int, scores: Sequence[ClientScores]) -> None:
        name, after = self._titles[run], self._runs[run].round
        now = takewhile(lambda point: point.round == after, reversed(self._runs[run].curve))
        best = max((point.top1 for point in now), default=None)
        told = "no test samples" if best is None else f"an accuracy of {best:.1%} at the best λ"
        words = f"{name}: after {after} rounds {len(scores)} clients have {told}"
        event("evaluation", words, run=name, round=after, clients=len(scores), best_top1=best)
        super().followed(run, scores)

    def saved(self, run: int) -> None:
        name, after = self._titles[run], self._runs[run].round
        event("checkpoint", f"{name}: checkpoint after {after} rounds", run=name, round=after)
        super().saved(run)

    def evaluating(self, total: int) -> None:
        event("final_evaluation", f"evaluating {total} clients", clients=total)
        super().evaluating(total)

    def run_done(self, run: int) -> None:
        name, seconds = self._titles[run], time.monotonic() - self._began
        event("done", f"{name}: results are there after {seconds:.1f} s", run=name, seconds=round(seconds, 3))
        super().run_done(run)

    def run_failed(self, run: int, reason: str) -> None:
        event("failure", f"{self._titles[run]}: failed: {reason}", run=self._titles[run], reason=reason)
        super().run_failed(run, reason)
