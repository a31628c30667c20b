"""Axes: where they begin and end, and where their marks stand."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Axis:
    """From ``low`` to ``high``, marked at ``ticks``."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """How far along the axis; what lies beyond its ends is put at them."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def round_axis(
    values: Sequence[float],
    limits: tuple[float, float] = (-math.inf, math.inf),
    marks: int = 7,
    smallest_step: float = 0.0,
) -> Axis:
    """An axis around ``values`` with about ``marks`` round marks, the first and last at its ends; within ``limits``."""
    known = [min(limits[1], max(limits[0], value)) for value in values if math.isfinite(value)] or [0.0]
    low, high = min(known), max(known)
    step = max(_round_step((high - low) / (marks - 1)), smallest_step)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if first == last:
        first, last = first - 1, last + 1
    ticks = [round(i * step, 12) for i in range(first, last + 1)]
    ticks = [tick for tick in ticks if limits[0] <= tick <= limits[1]]
    return Axis(ticks[0], ticks[-1], tuple(ticks))


def _round_step(least: float) -> float:
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least * (1 - 1e-9))
