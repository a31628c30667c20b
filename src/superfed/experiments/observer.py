"""What a running experiment tells whoever watches."""

from collections.abc import Sequence
from typing import Protocol

from superfed.engine.evaluate import ClientScores
from superfed.engine.simulation import Run
from superfed.experiments.schema import RunConfig
from superfed.store.layout import RunFolder


class Followed(Protocol):
    """A run as whoever watches knows it."""

    title: str
    folder: RunFolder
    config: RunConfig
    run: Run
    has_results: bool


class Observer(Protocol):
    def started(self, names: list[str], runs: list[Run]) -> None: ...

    def compiling(self, what: str, seconds: float | None) -> None:
        """A program for a GPU is compiled, and once more when it is, after so many seconds."""
        ...

    def lane_done(self, run: int) -> None:
        """One client of one run finished its local update."""
        ...

    def round_done(self, run: int) -> None: ...

    def followed(self, run: int, scores: Sequence[ClientScores]) -> None:
        """The clients that a run's accuracy curve follows were evaluated, as they stand."""
        ...

    def saved(self, run: int) -> None:
        """A checkpoint was written; from here a run can be gone on with."""
        ...

    def evaluating(self, total: int) -> None:
        """Training is over; so many clients are evaluated now."""
        ...

    def client_evaluated(self) -> None: ...

    def run_done(self, run: int) -> None:
        """A run's results are there."""
        ...

    def run_failed(self, run: int, reason: str) -> None:
        """A run goes no further; the others do."""
        ...


class Silent:
    """Nobody watches."""

    def started(self, names: list[str], runs: list[Run]) -> None: ...

    def compiling(self, what: str, seconds: float | None) -> None: ...

    def lane_done(self, run: int) -> None: ...

    def round_done(self, run: int) -> None: ...

    def followed(self, run: int, scores: Sequence[ClientScores]) -> None: ...

    def saved(self, run: int) -> None: ...

    def evaluating(self, total: int) -> None: ...

    def client_evaluated(self) -> None: ...

    def run_done(self, run: int) -> None: ...

    def run_failed(self, run: int, reason: str) -> None: ...


class Passing:
    """Passes everything on to another observer; for those that add something of their own."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def started(self, names: list[str], runs: list[Run]) -> None:
        self._observer.started(names, runs)

    def compiling(self, what: str, seconds: float | None) -> None:
        self._observer.compiling(what, seconds)

    def lane_done(self, run: int) -> None:
        self._observer.lane_done(run)

    def round_done(self, run: int) -> None:
        self._observer.round_done(run)

    def followed(self, run: int, scores: Sequence[ClientScores]) -> None:
        self._observer.followed(run, scores)

    def saved(self, run: int) -> None:
        self._observer.saved(run)

    def evaluating(self, total: int) -> None:
        self._observer.evaluating(total)

    def client_evaluated(self) -> None:
        self._observer.client_evaluated()

    def run_done(self, run: int) -> None:
        self._observer.run_done(run)

    def run_failed(self, run: int, reason: str) -> None:
        self._observer.run_failed(run, reason)
