"""What a station is asked, and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from superfed.deploy.ray.spread.travel import Arrays


@dataclass(frozen=True)
class Errand:
    """A lane as it travels: ``task`` is a place among the tasks that stations know, ``sent`` one among the states that
    servers send in this round; ``kept`` is None where the client never took part."""

    task: int
    client: int
    round: int
    sent: int
    kept: Arrays | None


@dataclass(frozen=True)
class Look:
    """How clients are evaluated."""

    lambdas: tuple[float, ...]
    epochs: int
    brief: bool


@dataclass(frozen=True)
class Call:
    """Some errands of one round, all to be looked at or, without a look, to be updated. Lanes that are given out together
    are a round, with a number of its own."""

    round: int
    errands: Sequence[Errand]
    look: Look | None


@dataclass(frozen=True)
class Answer:
    """What came out of each errand, in their order; how long it took, and the executor's notes."""

    results: list[Any]
    seconds: float
    notes: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """What an error said, and where in the program it was."""

    reason: str
    where: str


@dataclass(frozen=True)
class Lost:
    """No answer will come: the station is gone. ``machine`` is where it was when it worked on this, and None where it had
    not begun."""

    reason: str
    machine: str | None = None
