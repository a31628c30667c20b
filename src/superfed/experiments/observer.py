"""What a running experiment tells whoever watches."""

from typing import Protocol

from superfed.engine.simulation import Run


class Observer(Protocol):
    def started(self, names: list[str], runs: list[Run]) -> None: ...

    def lane_done(self, run: int) -> None:
        """One client of one run finished its local update."""
        ...

    def round_done(self, run: int) -> None: ...

    def evaluating(self, total: int) -> None:
        """Training is over; so many clients are evaluated now."""
        ...

    def client_evaluated(self) -> None: ...


class Silent:
    """Nobody watches."""

    def started(self, names: list[str], runs: list[Run]) -> None: ...

    def lane_done(self, run: int) -> None: ...

    def round_done(self, run: int) -> None: ...

    def evaluating(self, total: int) -> None: ...

    def client_evaluated(self) -> None: ...
