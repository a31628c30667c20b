"""A loss surface as numbers that a text file can hold."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from superfed.experiments.surface import Surface
from superfed.reproduce.paper import Plain

DIGITS = 4
"""Of losses over the plane: a picture shows no more."""

Heights = Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class Landscape:
    title: str
    window: Sequence[float]
    """Left, right, bottom and top."""
    loss: Heights
    """By row, from the bottom, and column; None where it is not finite."""
    corners: Sequence[Plain]
    """Name, x, y, loss and top1 of the global model and of two clients'."""
    lines: Heights
    """The loss on the straight ways from the first corner to the others, ends included."""
    mixes: bool
    """Whether these ways are λ-lines."""
    num_clients: int
    """Whose samples the loss is taken on."""
    num_samples: int

    @classmethod
    def of(cls, surface: Surface) -> "Landscape":
        grid = surface.grid
        return cls(
            title=surface.title,
            window=[_rounded(float(v), 8) or 0.0 for v in (grid.xs[0], grid.xs[-1], grid.ys[0], grid.ys[-1])],
            loss=[[_rounded(value, DIGITS) for value in row] for row in surface.loss.tolist()],
            corners=[
                {"name": c.name, **{k: _rounded(getattr(c, k), 8) for k in ("x", "y", "loss", "top1")}}
                for c in surface.corners
            ],
            lines=[[_rounded(value, 6) for value in line] for line in surface.lines],
            mixes=surface.mixes,
            num_clients=len(surface.samples_of),
            num_samples=surface.num_samples,
        )

    @property
    def xs(self) -> NDArray[np.float64]:
        return np.linspace(self.window[0], self.window[1], len(self.loss[0]))

    @property
    def ys(self) -> NDArray[np.float64]:
        return np.linspace(self.window[2], self.window[3], len(self.loss))

    @property
    def heights(self) -> NDArray[np.float64]:
        return np.array([[math.nan if value is None else value for value in row] for row in self.loss])

    def extremes(self, line: int) -> tuple[float | None, float | None]:
        """The lowest and the highest loss on a way, its ends included; None where a loss there is not finite."""
        known = [value for value in self.lines[line] if value is not None]
        return (min(known), max(known)) if len(known) == len(self.lines[line]) else (None, None)


def _rounded(value: float, digits: int) -> float | None:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
