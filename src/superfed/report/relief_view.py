"""How a surface is looked at from the side: from places on a plane, with their heights, to places in a picture.

Orthographic, so that lengths can be compared all over the picture.
"""

import math
from dataclasses import dataclass

import numpy as np

from superfed.report.holdings_draw import Box
from superfed.report.isolines import Floats, Place
from superfed.report.terrain import Scale, Terrain

ELEVATION = 46.0
"""Degrees above the ground from which it is looked at."""
TALL = 0.42
"""The height of the block, as a share of its longer side."""

_WIDTH = 440.0


@dataclass(frozen=True)
class View:
    """From the plane and the heights on it to the picture."""

    xs: Floats
    ys: Floats
    heights: Floats
    """1 is the scale's cap, above which all is drawn level; NaN where there is none."""
    turn: float
    unit: float
    """Points of the picture for each unit of the plane."""
    shift: Place

    @classmethod
    def of(cls, terrain: Terrain, scale: Scale, turn: float) -> "View":
        heights = np.maximum(scale.height(terrain.values), 0.0)
        plain = cls(terrain.xs, terrain.ys, heights, math.radians(turn), 1.0, (0.0, 0.0))
        outline = [plain.seen(x, y, z) for x, y in plain.corners for z in (0.0, 1.0)]
        left, right = min(x for x, _ in outline), max(x for x, _ in outline)
        unit = _WIDTH / (right - left)
        top = min(y for _, y in outline)
        return cls(terrain.xs, terrain.ys, heights, plain.turn, unit, (64 - unit * left, 62 - unit * top))

    @property
    def side(self) -> float:
        return float(max(self.xs[-1] - self.xs[0], self.ys[-1] - self.ys[0]))

    @property
    def corners(self) -> list[Place]:
        """Of the ground, one after another around it."""
        left, right, bottom, top = (float(v) for v in (self.xs[0], self.xs[-1], self.ys[0], self.ys[-1]))
        return [(left, bottom), (right, bottom), (right, top), (left, top)]

    @property
    def box(self) -> Box:
        outline = [self.seen(x, y, z) for x, y in self.corners for z in (0.0, 1.0)]
        return Box(
            min(x for x, _ in outline),
            min(y for _, y in outline),
            max(x for x, _ in outline),
            max(y for _, y in outline),
        )

    def depth(self, x: float, y: float) -> float:
        """How far behind the middle."""
        return x * math.sin(self.turn) + y * math.cos(self.turn)

    def seen(self, x: float, y: float, z: float) -> Place:
        """Where a place at height ``z``, from 0 to 1, is in the picture."""
        raised = math.radians(ELEVATION)
        across = x * math.cos(self.turn) - y * math.sin(self.turn)
        up = self.depth(x, y) * math.sin(raised) + min(z, 1.0) * TALL * self.side * math.cos(raised)
        return self.shift[0] + self.unit * across, self.shift[1] - self.unit * up

    def height_at(self, x: float, y: float) -> float:
        """Between the grid's points, linearly along both sides; NaN outside."""
        column = (x - self.xs[0]) / (self.xs[-1] - self.xs[0]) * (len(self.xs) - 1)
        row = (y - self.ys[0]) / (self.ys[-1] - self.ys[0]) * (len(self.ys) - 1)
        if not (-1e-9 <= column <= len(self.xs) - 1 + 1e-9 and -1e-9 <= row <= len(self.ys) - 1 + 1e-9):
            return math.nan
        c, r = min(max(int(column), 0), len(self.xs) - 2), min(max(int(row), 0), len(self.ys) - 2)
        across, up = column - c, row - r
        near, far = self.heights[r, c : c + 2], self.heights[r + 1, c : c + 2]
        found = (1 - up) * (near[0] + across * (near[1] - near[0])) + up * (far[0] + across * (far[1] - far[0]))
        return min(float(found), 1.0)

    def hidden(self, x: float, y: float, z: float) -> bool:
        """Whether the surface stands before this place on or above it."""
        step = self.side / 100
        rise = math.tan(math.radians(ELEVATION)) / (TALL * self.side)
        for i in range(1, 150):
            away = i * step
            ahead = self.height_at(x - away * math.sin(self.turn), y - away * math.cos(self.turn))
            if ahead > z + away * rise + 0.01:
                return True
        return False

    @property
    def in_front(self) -> float:
        """The mean height of the nearer half."""
        x, y = np.meshgrid(self.xs, self.ys)
        depth = x * math.sin(self.turn) + y * math.cos(self.turn)
        near = self.heights[(depth <= np.median(depth)) & np.isfinite(self.heights)]
        return float(np.minimum(near, 1.0).mean()) if len(near) else 0.0
