"""What carries letters between the server and the sites' nodes. Flower's is one; a test's may be another."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from superfed.deploy.flower.wire.letters import Letter


@dataclass(frozen=True)
class Node:
    """``key`` is the public key it proved to hold, if it had to; ``since`` changes when it comes back."""

    key: str
    since: str


@dataclass(frozen=True)
class Arrival:
    """A reply to what was sent under ``id``, or why there will be none."""

    id: str
    letter: Letter | None
    reason: str = ""
    gone: bool = False
    """Whether its node was found to be away."""


class Link(Protocol):
    def nodes(self) -> Mapping[int, Node]:
        """The nodes that are connected now, by their ids."""
        ...

    def send(self, letters: Mapping[int, Letter], patience: float) -> dict[int, str]:
        """Send a letter to each of these nodes; the ids under which replies will come."""
        ...

    def pull(self, ids: Collection[str]) -> list[Arrival]:
        """What has come for these ids. It does not wait."""
        ...
