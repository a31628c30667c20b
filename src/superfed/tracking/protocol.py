"""What a tracker does. One file for each library; whatever it raises is told once and costs the run nothing."""

from collections.abc import Mapping
from typing import Protocol

from superfed.tracking.followed import Followed


class Tracker(Protocol):
    def begin(self, run: Followed, known: str | None) -> str:
        """Open the run there, or go on with the one that is ``known`` by this name; its name there."""
        ...

    def log(self, run: Followed, step: int, values: Mapping[str, float]) -> None:
        """Numbers after so many rounds. Steps never go back."""
        ...

    def results(self, run: Followed, step: int) -> None:
        """The run is evaluated, and its folder whole: final numbers, clients, files."""
        ...

    def end(self, run: Followed, status: str) -> None:
        """No more will come of it now: it is finished, stopped, failed, or interrupted and may be gone on with."""
        ...

    def close(self) -> None:
        """No more will come of any."""
        ...
