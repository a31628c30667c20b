"""A lane: one client of one run in one round, with what it kept and what the server sends it."""

from collections.abc import Callable
from dataclasses import dataclass

from superfed.core.state import State
from superfed.engine.task import Task


@dataclass(frozen=True)
class Lane:
    """``stored`` fetches what the client kept, or None if it never took part: states are read when needed, not before.

    ``sent`` is what the server sends; in an evaluation it is the server's whole state.
    """

    run: int
    task: Task
    client: int
    round: int
    sent: State
    stored: Callable[[], State | None]

    def kept(self) -> State:
        state = self.stored()
        return self.task.init_client(self.client) if state is None else state
