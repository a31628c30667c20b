"""How large an upload and a number of samples may be before nobody believes them."""

import math
from dataclasses import dataclass

from superfed.core.errors import require
from superfed.core.state import State
from superfed.deploy.flower.wire.refusal import Refusal


@dataclass(frozen=True)
class Limits:
    """``norm``: how many times longer than the server's own vector, or than one of ones, an uploaded one may be."""

    norm: float = 100.0
    samples: int = 10_000_000

    def __post_init__(self) -> None:
        require(self.norm > 0, "limits.norm", f"must be more than 0, not {self.norm}")
        require(self.samples >= 1, "limits.samples", f"must be 1 or more, not {self.samples}")

    def check_samples(self, samples: int) -> None:
        if not 1 <= samples <= self.samples:
            raise Refusal(f"it says it trains on {samples} samples, and 1 to {self.samples:,} are believed")

    def check_norms(self, upload: State, server: State) -> None:
        for name, values in upload.items():
            if not values.is_floating_point():
                continue
            known = server.get(name)
            usual = max(float(known.double().norm()) if known is not None else 0.0, math.sqrt(values.numel()))
            norm = float(values.double().norm())
            if norm > self.norm * usual:
                raise Refusal(f"the array '{name}' has norm {norm:.3g}, and up to {self.norm * usual:.3g} is believed")
