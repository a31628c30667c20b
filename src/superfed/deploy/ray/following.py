"""What tasks on many machines tell, as one observer hears it."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from superfed.deploy.ray.board import Event
from superfed.deploy.ray.mirror import Mirror
from superfed.engine.evaluate import ClientScores
from superfed.engine.simulation import CurvePoint, RoundRecord
from superfed.experiments.observer import Observer


class Following:
    """Takes events in, in the order in which they were told. ``fetch`` brings a run that ended to where it belongs."""

    def __init__(self, mirrors: Sequence[Mirror], observer: Observer, fetch: Callable[[Mirror], None]) -> None:
        self.ended: dict[int, str | None] = {}
        """Why runs failed, or None for those that did not."""
        self.machines: dict[int, str] = {}
        """Where each parcel was last taken up."""
        self.kept: Counter[int] = Counter()
        """How often each run had something to keep."""
        self._mirrors, self._observer, self._fetch = mirrors, observer, fetch
        self._to_evaluate: int | None = None
        self._evaluated = 0
        self._ears: dict[str, Callable[..., None]] = {
            "taken": self._taken,
            "begun": self._begun,
            "lanes": self._lanes,
            "round": self._round,
            "curve": self._curve,
            "saved": self._saved,
            "evaluated": self._client_evaluated,
            "done": self._done,
            "failed": self.end,
            "compiling": observer.compiling,
            "warned": _warned,
        }

    def hear(self, events: Iterable[Event]) -> None:
        for what, *rest in events:
            self._ears[what](*rest)

    def hear_where(self, events: Iterable[Event]) -> None:
        """Only which parcels were taken up; nobody wants to know the rest any more."""
        self.hear(event for event in events if event[0] == "taken")

    def end(self, place: int, reason: str | None) -> None:
        """The run came to its end, whether its task told so or not."""
        if place in self.ended:
            return
        self.ended[place] = reason
        mirror = self._mirrors[place]
        self._fetch(mirror)
        mirror.has_results = reason is None
        if reason is None:
            self._observer.run_done(place)
        else:
            self._observer.run_failed(place, reason)
        self._announce()

    def all_ended(self) -> None:
        """Clients that were evaluated before anybody could be told count as well."""
        for _ in range(self._evaluated, self._to_evaluate or 0):
            self._observer.client_evaluated()

    def _taken(self, parcel: int, machine: str) -> None:
        self.machines[parcel] = machine

    def _begun(
        self, place: int, records: Sequence[RoundRecord], curve: Sequence[CurvePoint], stopped: str | None
    ) -> None:
        self._mirrors[place].begun(records, curve, stopped)

    def _lanes(self, place: int, round: int, count: int) -> None:
        if round >= self._mirrors[place].run.round:
            for _ in range(count):
                self._observer.lane_done(place)

    def _round(self, place: int, record: RoundRecord, stopped: str | None) -> None:
        if self._mirrors[place].add_round(record, stopped):
            self._observer.round_done(place)
            self._announce()

    def _curve(self, place: int, points: Sequence[CurvePoint], scores: Sequence[ClientScores]) -> None:
        if self._mirrors[place].add_to_curve(points):
            self._observer.followed(place, scores)

    def _saved(self, place: int) -> None:
        self.kept[place] += 1
        self._observer.saved(place)

    def _client_evaluated(self) -> None:
        if self._to_evaluate is not None and self._evaluated < self._to_evaluate:
            self._evaluated += 1
            self._observer.client_evaluated()

    def _done(self, place: int) -> None:
        self.kept[place] += 1
        self.end(place, None)

    def _announce(self) -> None:
        """When every run is trained, say how many clients are still to be evaluated."""
        going = [mirror for place, mirror in enumerate(self._mirrors) if place not in self.ended]
        if self._to_evaluate is None and all(mirror.run.finished for mirror in going):
            self._to_evaluate = sum(mirror.to_evaluate for mirror in going if not mirror.has_results)
            if self._to_evaluate:
                self._observer.evaluating(self._to_evaluate)


def _warned(words: str) -> None:
    warnings.warn(words, stacklevel=2)
