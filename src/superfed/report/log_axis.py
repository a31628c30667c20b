"""An axis on which equal ratios are equally far apart."""

import math
from dataclasses import dataclass

from superfed.report.scale import Axis


@dataclass(frozen=True)
class LogAxis(Axis):
    """Its ends and marks are positive."""

    def share(self, value: float) -> float:
        if value <= 0:
            return 0.0
        return min(1.0, max(0.0, math.log(value / self.low) / math.log(self.high / self.low)))
