"""Heights over a plane with named spots on it, and where bands of height begin."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from superfed.report.heat import heat
from superfed.report.isolines import Floats
from superfed.report.scale import round_axis

_MOST_LEVELS = 11
_LEAST = 2e-3
"""The lowest level is not below this share of the highest: lower still, all is valley."""
_SERIES = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8))


@dataclass(frozen=True)
class Spot:
    """Something to be marked on the surface, and how high it lies."""

    name: str
    x: float
    y: float
    value: float


@dataclass(frozen=True)
class Terrain:
    """Heights ``values`` [rows, cols] at ``ys`` by ``xs``, both ascending, on one scale of length."""

    title: str
    xs: Floats
    ys: Floats
    values: Floats
    spots: Sequence[Spot] = ()
    lines: Sequence[tuple[int, int]] = ()
    """Pairs of spots, by place, between which λ goes from 0 to 1."""
    quantity: str = "loss"
    x_title: str = ""
    y_title: str = ""


@dataclass(frozen=True)
class Scale:
    """Where bands begin. One for several pictures makes them comparable."""

    levels: tuple[float, ...]
    low: float
    cap: float
    log: bool
    capped: bool
    """Whether anything lies above ``cap``, the highest level: it is drawn as one plateau."""

    @classmethod
    def of(cls, terrains: Sequence[Terrain], cap: float | None = None) -> "Scale":
        """Without a ``cap``, just above the highest spot, or three quarters of all: beyond, losses explode and say little."""
        values = np.concatenate([t.values[np.isfinite(t.values)] for t in terrains] or [np.zeros(0)])
        if len(values) == 0:
            return cls((), 0.0, 1.0, log=False, capped=False)
        low, high = float(values.min()), float(values.max())
        if cap is None:
            spots = [spot.value for t in terrains for spot in t.spots if math.isfinite(spot.value)]
            cap = _round_up(max(spots) if spots else float(np.quantile(values, 0.75)))
        capped = high > cap > low
        high = cap if capped else high
        if low >= 0 and high >= 3 * max(low, _LEAST * high):
            low = max(low, _LEAST * high)
            levels = _log_levels(low, high)
            return cls((*levels, cap) if capped else levels, low, high, log=True, capped=capped)
        ticks = [tick for tick in round_axis([low, high], marks=8).ticks if low < tick < high]
        return cls((*ticks, cap) if capped else tuple(ticks), low, high, log=False, capped=capped)

    def height(self, values: Floats) -> Floats:
        """From 0, the lowest, to 1, the cap; in logarithms where the scale is one. What is not finite stays NaN."""
        known = np.where(np.isfinite(values), values, np.nan)
        low, cap = (math.log(self.low), math.log(self.cap)) if self.log else (self.low, self.cap)
        known = np.log(np.maximum(known, self.low)) if self.log else known
        share: Floats = (known - low) / ((cap - low) or 1.0)
        return share

    def level_heights(self) -> list[float]:
        return [float(h) for h in self.height(np.array(self.levels))]

    def name(self, quantity: str) -> str:
        return f"{quantity}, log" if self.log else quantity

    @property
    def colours(self) -> tuple[str, ...]:
        """One for each band, from the lowest, dark, to the highest, light."""
        bands = len(self.levels) + 1
        return tuple(heat(i / (bands - 1) if bands > 1 else 0.0) for i in range(bands))


def _log_levels(low: float, high: float) -> tuple[float, ...]:
    """Round numbers between, as many as there may be."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: tuple[float, ...] = ()
    for series in _SERIES:
        levels = tuple(level for p in powers for s in series if low < (level := float(f"{s:g}e{p}")) < high)
        if len(levels) <= _MOST_LEVELS or not found:
            found = levels
    return found


def _round_up(value: float) -> float:
    """To the next of 1, 1.5, 2, 3, 5, 7 and their tenfolds."""
    if value <= 0:
        return value
    power = math.floor(math.log10(value))
    candidates = [float(f"{s:g}e{p}") for p in (power, power + 1) for s in _SERIES[3]]
    return next(c for c in candidates if c >= value * (1 - 1e-9))
