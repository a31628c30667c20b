"""Lines of equal height through a grid of values, by marching squares."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Place = tuple[float, float]


def isolines(values: Floats, level: float) -> list[list[Place]]:
    """The lines on which ``values`` is ``level``, as places (row, column); a closed one ends where it began.

    Marching squares: cells with a corner that is not finite are left out, and where a saddle lies in a cell the mean
    of its corners tells which sides belong together.
    """
    after: dict[tuple[str, int, int], tuple[str, int, int]] = {}
    for row, column in zip(*np.nonzero(_crossed(values, level)), strict=True):
        after.update(_segments(values, level, int(row), int(column)))
    ends = set(after.values())
    lines = []
    for start in [*(edge for edge in after if edge not in ends), *after]:
        if start not in after:
            continue
        line = [start]
        while line[-1] in after:
            line.append(after.pop(line[-1]))
        lines.append([_crossing(values, level, edge) for edge in line])
    return lines


def regions(values: Floats, level: float) -> list[list[Place]]:
    """The rings around all that is as high as ``level`` or higher, to be filled by the even-odd rule; gaps count as low.

    A low rim is laid around the grid, and what is found on it is put back onto the grid's border.
    """
    filled = np.where(np.isfinite(values), values, level - 1.0)
    rows, columns = values.shape
    rings = isolines(np.pad(filled, 1, constant_values=level - 1.0), level)
    return [
        [(min(max(r - 1, 0.0), rows - 1.0), min(max(c - 1, 0.0), columns - 1.0)) for r, c in ring] for ring in rings
    ]


def _crossed(values: Floats, level: float) -> NDArray[np.bool_]:
    """The cells through which the line goes."""
    corners = np.stack([values[:-1, :-1], values[:-1, 1:], values[1:, 1:], values[1:, :-1]])
    lowest, highest = corners.min(axis=0), corners.max(axis=0)
    crossed: NDArray[np.bool_] = np.isfinite(lowest) & np.isfinite(highest) & (lowest < level) & (highest >= level)
    return crossed


def _segments(
    values: Floats, level: float, row: int, column: int
) -> Iterator[tuple[tuple[str, int, int], tuple[str, int, int]]]:
    """Pieces of line through one cell, from edge to edge, with the higher side on their left."""
    corners = [values[row, column], values[row, column + 1], values[row + 1, column + 1], values[row + 1, column]]
    edges = [("across", row, column), ("up", row, column + 1), ("across", row + 1, column), ("up", row, column)]
    high = [bool(corner >= level) for corner in corners]
    leaving = [i for i in range(4) if high[i] and not high[(i + 1) % 4]]
    entering = [i for i in range(4) if not high[i] and high[(i + 1) % 4]]
    joined = sum(corners) / 4 >= level
    for start in leaving:
        ahead = sorted(entering, key=lambda stop: (stop - start) % 4)
        yield edges[start], edges[ahead[0 if joined else -1]]


def _crossing(values: Floats, level: float, edge: tuple[str, int, int]) -> Place:
    kind, row, column = edge
    first = values[row, column]
    second = values[row, column + 1] if kind == "across" else values[row + 1, column]
    share = float((level - first) / (second - first))
    return (row, column + share) if kind == "across" else (row + share, column)
