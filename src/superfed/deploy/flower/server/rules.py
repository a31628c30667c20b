"""How long the server waits, for how many, and what it believes."""

from dataclasses import dataclass, field

from superfed.core.errors import require
from superfed.deploy.flower.wire.limits import Limits


@dataclass(frozen=True)
class Rules:
    deadline: float = 600.0
    """Seconds a round may take; whoever replies later is not in it."""
    min_replies: int | None = None
    """How many replies a round needs; without it, half of those who are sampled."""
    attempts: int = 3
    """How often a round is asked for before the run gives up."""
    gathering: float = 300.0
    """Seconds to wait until the sites that are needed are there."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        require(self.deadline > 0, "deadline", f"must be more than 0 seconds, not {self.deadline}")
        require(self.gathering >= 0, "gathering", f"must be 0 seconds or more, not {self.gathering}")
        require(self.attempts >= 1, "attempts", f"must be 1 or more, not {self.attempts}")
        least = self.min_replies
        require(least is None or least >= 1, "min_replies", f"must be 1 or more, not {least}")

    def needed(self, cohort: int) -> int:
        """How many replies a round of so many sites needs."""
        return -(-cohort // 2) if self.min_replies is None else min(self.min_replies, cohort)
