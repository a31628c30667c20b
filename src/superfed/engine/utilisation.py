"""How much of what was computed was needed: lanes that had finished while their stack went on are waste."""

from dataclasses import dataclass


@dataclass
class Utilisation:
    """Counted in client-steps."""

    needed: int = 0
    computed: int = 0

    @property
    def share(self) -> float:
        return self.needed / self.computed if self.computed else 1.0
