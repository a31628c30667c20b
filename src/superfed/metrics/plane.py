"""A plane through three models, to see the loss between and around them (Garipov et al., 2018, appendix A.1).

Distances on it are distances between models: the basis is orthonormal, so a picture with equal scales on both axes
shows neither basin nor barrier wider than it is.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from superfed.core.errors import UserError

FLAT = 1e-6
"""Three points whose triangle is lower than this share of its longest side from the first count as on a line."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """Points of a plane, ``ys`` by rows and ``xs`` by columns, both ascending."""

    xs: Floats
    ys: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.ys), len(self.xs)


@dataclass(frozen=True)
class Window:
    """The part of a plane that is looked at."""

    left: float
    right: float
    bottom: float
    top: float

    @classmethod
    def around(cls, places: Floats, margin: float) -> Self:
        """The smallest window with all ``places`` [points, 2] in it, and a share of its longer side free around them."""
        (left, bottom), (right, top) = places.min(axis=0), places.max(axis=0)
        room = margin * max(right - left, top - bottom)
        return cls(float(left - room), float(right + room), float(bottom - room), float(top + room))

    def joined(self, other: "Window") -> "Window":
        """The smallest window that holds both: pictures of several planes can only be compared at one scale."""
        return Window(
            min(self.left, other.left),
            max(self.right, other.right),
            min(self.bottom, other.bottom),
            max(self.top, other.top),
        )

    def grid(self, points: int) -> Grid:
        """``points`` along the longer side, and along the other as many as make the cells about square."""
        if points < 2:
            raise UserError(f"a grid needs 2 points or more along its longer side, not {points}")
        width, height = self.right - self.left, self.top - self.bottom
        step = max(width, height) / (points - 1)
        columns, rows = (max(round(side / step) + 1, 2) for side in (width, height))
        return Grid(np.linspace(self.left, self.right, columns), np.linspace(self.bottom, self.top, rows))


@dataclass(frozen=True)
class Plane:
    """The points ``origin + x·u + y·v``, computed in float64 and given in the precision of the models."""

    origin: Tensor
    u: Tensor
    v: Tensor
    corners: Floats
    """The coordinates of the three models, [3, 2]; the first lies at (0, 0) and the second at (x, 0)."""
    dtype: torch.dtype

    @classmethod
    def through(cls, a: Tensor, b: Tensor, c: Tensor) -> Self:
        """u points from a to b, and v from that line to c."""
        origin, to_b, to_c = a.double(), b.double() - a.double(), c.double() - a.double()
        b_far, c_far = _norm(to_b), _norm(to_c)
        u = to_b / b_far if b_far > 0 else to_b
        along = float((to_c * u).sum())
        rest = to_c - along * u
        rest = rest - (rest * u).sum() * u  # once more, for what rounding left of it
        height = _norm(rest)
        if not math.isfinite(height) or b_far == 0 or height <= FLAT * max(b_far, c_far):
            what = "lie on one line" if math.isfinite(height) else "are not all finite"
            raise UserError(f"the three models {what}, so there is no plane through them; choose other clients")
        corners = np.array([[0.0, 0.0], [b_far, 0.0], [along, height]])
        return cls(origin, u, rest / height, corners, a.dtype)

    def at(self, x: float, y: float) -> Tensor:
        """The model there."""
        return (self.origin + x * self.u + y * self.v).to(self.dtype)

    def coordinates(self, w: Tensor) -> tuple[float, float]:
        """Of the point of the plane nearest to ``w``."""
        away = w.double() - self.origin
        return float((away * self.u).sum()), float((away * self.v).sum())

    def window(self, margin: float = 0.35) -> Window:
        """Around the three models."""
        return Window.around(self.corners, margin)

    def sq_norms(self, grid: Grid) -> Floats:
        """‖w‖² of the models at the grid's points, [rows, cols]."""
        size, along_u, along_v = (float((self.origin * other).sum()) for other in (self.origin, self.u, self.v))
        x, y = grid.xs[None, :], grid.ys[:, None]
        found: Floats = size + 2 * x * along_u + 2 * y * along_v + x**2 + y**2
        return found

    def to(self, device: torch.device) -> "Plane":
        return replace(self, origin=self.origin.to(device), u=self.u.to(device), v=self.v.to(device))


def _norm(w: Tensor) -> float:
    return math.sqrt(float((w * w).sum()))
