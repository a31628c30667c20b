"""Runs that are followed in trackers: what an observer is told, they are told too, and no run is ever the worse for it."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from superfed.engine.evaluate import ClientScores
from superfed.engine.simulation import CurvePoint, Run
from superfed.experiments.observer import Followed, Observer, Passing
from superfed.experiments.strict import plain
from superfed.metrics.scores import HIGHER_IS_BETTER
from superfed.metrics.summary import summarise
from superfed.store.layout import ExperimentFolder
from superfed.tracking.mailbox import Mailbox
from superfed.tracking.settings import TRACKERS
from superfed.tracking.values import Values, of_curve, of_round


@contextmanager
def tracked(members: Sequence[Followed], observer: Observer) -> Iterator[Observer]:
    """The observer while the block lasts, and whatever trackers the runs' configs name."""
    if not any(member.config.tracking for member in members):
        yield observer
        return
    boxes = _boxes([member for member in members if not member.has_results])
    try:
        yield Tracked(members, observer, boxes)
    except BaseException:
        _close(boxes, haste=True)
        raise
    _close(boxes, haste=False)


class Tracked(Passing):
    """An observer that passes everything on, and tells trackers what concerns them."""

    def __init__(self, members: Sequence[Followed], observer: Observer, boxes: dict[Path, list[Mailbox]]) -> None:
        super().__init__(observer)
        self._names = [member.folder.name for member in members]
        self._runs = [member.run for member in members]
        self._boxes = [boxes.get(member.folder.path.parent, []) for member in members]
        self._every = [box for one in boxes.values() for box in one]
        self._past = {place: _past(run) for place, run in enumerate(self._runs)}

    def lane_done(self, run: int) -> None:
        for box in self._every:
            box.look()
        super().lane_done(run)

    def round_done(self, run: int) -> None:
        record = self._runs[run].records[-1]
        self._tell(run, "round", record.round + 1, of_round(vars(record)))
        super().round_done(run)

    def followed(self, run: int, scores: Sequence[ClientScores]) -> None:
        self._tell(run, "curve", self._runs[run].round, _curve(scores))
        super().followed(run, scores)

    def run_done(self, run: int) -> None:
        mine = self._runs[run]
        self._tell(run, "results", len(mine.records), {})
        self._end(run, "finished" if mine.stopped is None else "stopped")
        super().run_done(run)

    def run_failed(self, run: int, reason: str) -> None:
        self._end(run, "failed")
        super().run_failed(run, reason)

    def _tell(self, run: int, what: str, step: int, values: Values) -> None:
        self._begin(run)
        for box in self._boxes[run]:
            box.tell({"what": what, "run": self._names[run], "step": step, "values": values})

    def _end(self, run: int, status: str) -> None:
        self._begin(run)
        for box in self._boxes[run]:
            box.tell({"what": "end", "run": self._names[run], "status": status})

    def _begin(self, run: int) -> None:
        """With all that was before a resume: a tracker that was not there then may be now."""
        if run not in self._past:
            return
        past = self._past.pop(run)
        for box in self._boxes[run]:
            box.tell({"what": "begin", "run": self._names[run]})
        for step, what, values in past:
            self._tell(run, what, step, values)


def _boxes(members: Sequence[Followed]) -> dict[Path, list[Mailbox]]:
    """The trackers of each experiment that has runs to follow."""
    names = {kind: name for name, kind in TRACKERS.items()}
    found: dict[Path, list[Mailbox]] = {}
    for member in members:
        folder = member.folder.path.parent
        if folder in found:
            continue
        several = len(ExperimentFolder(folder).info()["runs"]) > 1
        told = {"folder": str(folder.absolute()), "name": member.config.name, "several": several}
        found[folder] = [Mailbox(names[type(one)], told | {"settings": plain(one)}) for one in member.config.tracking]
    return found


def _close(boxes: dict[Path, list[Mailbox]], *, haste: bool) -> None:
    every = [box for one in boxes.values() for box in one]
    try:
        for box in every:
            box.finish()
        for box in every:
            box.wait(haste=haste)
    finally:  # whoever does not wait for them leaves none behind
        for box in every:
            box.end()


def _past(run: Run) -> list[tuple[int, str, Values]]:
    """What a restored run has behind it, in order."""
    rounds = [(record.round + 1, "round", of_round(vars(record))) for record in run.records]
    curve: dict[int, Values] = {}
    for point in run.curve:
        curve.setdefault(point.round, {}).update(_point(point))
    return sorted(rounds + [(step, "curve", values) for step, values in curve.items()], key=lambda one: one[0])


def _point(point: CurvePoint) -> Values:
    return of_curve(point.lam, {"top1": {"mean": point.top1, "std": point.top1_std}, "loss": {"mean": point.loss}})


def _curve(scores: Sequence[ClientScores]) -> Values:
    values: Values = {}
    for place, lam in enumerate(scores[0].lambdas):
        told = {
            name: summarise(
                np.array([one.test[name][place] for one in scores]), higher_is_better=name in HIGHER_IS_BETTER
            )
            for name in ("top1", "loss")
        }
        values |= of_curve(lam, told)
    return {name: value for name, value in values.items() if not math.isnan(value)}
