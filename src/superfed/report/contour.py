"""A surface seen from above: bands of colour between isolines, found by marching squares, as one SVG.

It knows heights over a plane and named spots on it, and nothing of models.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from superfed.report.figure_parts import GROUND, LETTER, QUIET, TEXT, picture, rectangle, words
from superfed.report.heat import is_dark
from superfed.report.holdings_draw import Box
from superfed.report.isolines import Floats, Place, isolines, regions
from superfed.report.markup import Markup, element
from superfed.report.plane_marks import (
    along,
    box_around,
    half_way,
    holds,
    lambda_line,
    legend,
    mark,
    names,
    note,
    touch,
)
from superfed.report.scale import Axis, round_axis
from superfed.report.terrain import Scale, Terrain

_SIDE = 400.0
"""The longer side of the plot."""


def contour(terrain: Terrain, scale: Scale | None = None) -> Markup:
    """The picture."""
    scale = scale or Scale.of([terrain])
    frame = Frame.of(terrain)
    heights = scale.height(terrain.values)
    places = [frame.place(spot.x, spot.y) for spot in terrain.spots]
    lines = [(places[start], places[stop]) for start, stop in terrain.lines]
    taken = [box_around(place, 14, 14) for place in places]
    named = list(_names(terrain, frame, taken))
    labels = list(_level_labels(frame, heights, scale, taken))
    parts = [
        *_bands(frame, heights, scale),
        *_isolines(frame, heights, scale),
        *_gaps(frame, heights),
        *_axes(frame, terrain),
        *labels,
        *(part for line in lines for part in (*lambda_line(line), half_way(along(*line, 0.5)))),
        *(mark(place, i, note(terrain, i)) for i, place in enumerate(places)),
        *named,
        *legend(scale, terrain.quantity, frame.box.right + 26, frame.box.top, frame.box.bottom),
    ]
    return picture(
        frame.width, frame.height, f"Contour plot of {terrain.quantity}: {terrain.title}.", terrain.title, parts
    )


@dataclass(frozen=True)
class Frame:
    """From the plane to the picture, with equal scales on both axes."""

    box: Box
    x: Axis
    y: Axis
    rows: int
    columns: int

    @classmethod
    def of(cls, terrain: Terrain) -> "Frame":
        x, y = (_within(side) for side in (terrain.xs, terrain.ys))
        unit = _SIDE / max(x.high - x.low, y.high - y.low)
        box = Box(62.0, 40.0, 62 + max(unit * (x.high - x.low), 60.0), 40 + max(unit * (y.high - y.low), 60.0))
        return cls(box, x, y, len(terrain.ys), len(terrain.xs))

    @property
    def width(self) -> float:
        return self.box.right + 106

    @property
    def height(self) -> float:
        return self.box.bottom + 54

    def place(self, x: float, y: float) -> Place:
        box = self.box
        return box.left + box.width * self.x.share(x), box.bottom - box.height * self.y.share(y)

    def node(self, row: float, column: float) -> Place:
        """Of a place on the grid, whose points are evenly spaced."""
        box = self.box
        return (
            box.left + box.width * column / (self.columns - 1),
            box.bottom - box.height * row / (self.rows - 1),
        )


def _names(terrain: Terrain, frame: Frame, taken: list[Box]) -> Iterator[Markup]:
    """The spots' names and the λ-lines' middles, each where it covers nothing; ``taken`` grows by what they take."""
    box = frame.box
    inside = Box(box.left + 2, box.top + 2, box.right - 2, box.bottom - 2)
    places = [frame.place(spot.x, spot.y) for spot in terrain.spots]
    lines = [(places[start], places[stop]) for start, stop in terrain.lines]
    taken += [box_around(along(*line, share / 12), 8, 8) for line in lines for share in range(1, 12)]
    spots = [(spot.name, place) for spot, place in zip(terrain.spots, places, strict=True)]
    yield from names(spots, [along(*line, 0.5) for line in lines], inside, taken)


def _bands(frame: Frame, heights: Floats, scale: Scale) -> Iterator[Markup]:
    """The lowest colour everywhere, and on it, one on another, all that is as high as each level: no seams can show."""
    box, colours = frame.box, scale.colours
    yield rectangle(
        box,
        fill=colours[0],
    )
    for level, colour in zip(scale.level_heights(), colours[1:], strict=True):
        rings = regions(heights, level)
        if rings:
            d = "".join(_path(frame, ring[:-1]) + "Z" for ring in rings)
            yield element("path", d=d, fill=colour, fill_rule="evenodd")


def _isolines(frame: Frame, heights: Floats, scale: Scale) -> Iterator[Markup]:
    for level, colour in zip(scale.level_heights(), scale.colours, strict=False):
        d = "".join(_path(frame, line) for line in isolines(heights, level))
        if d:
            stroke = GROUND if is_dark(colour) else TEXT
            yield element("path", d=d, fill="none", stroke=stroke, stroke_width=0.7, stroke_opacity=0.5)


def _gaps(frame: Frame, heights: Floats) -> Iterator[Markup]:
    """Cells with a corner that has no height are left blank."""
    known = np.isfinite(heights)
    whole = known[:-1, :-1] & known[1:, :-1] & known[:-1, 1:] & known[1:, 1:]
    d = ""
    for row, column in zip(*np.nonzero(~whole), strict=True):
        (left, bottom), (right, top) = frame.node(row, column), frame.node(row + 1, column + 1)
        d += f"M{left:.1f} {bottom:.1f}H{right:.1f}V{top:.1f}H{left:.1f}Z"
    if d:
        yield element("path", element("title", "not finite"), d=d, fill=GROUND, class_="gap")


def _axes(frame: Frame, terrain: Terrain) -> Iterator[Markup]:
    box = frame.box
    yield rectangle(
        box,
        fill="none",
        stroke=QUIET,
    )
    for tick in frame.x.ticks:
        place, _ = frame.place(tick, frame.y.low)
        yield element("path", d=f"M{place:.1f} {box.bottom:.1f}v5", stroke=QUIET)
        yield words(f"{tick:g}", place, box.bottom + 19, "middle")
    for tick in frame.y.ticks:
        _, place = frame.place(frame.x.low, tick)
        yield element("path", d=f"M{box.left:.1f} {place:.1f}h-5", stroke=QUIET)
        yield words(f"{tick:g}", box.left - 9, place + 4, "end")
    middle = (box.top + box.bottom) / 2
    yield words(terrain.x_title, (box.left + box.right) / 2, box.bottom + 42, "middle", TEXT)
    yield words(terrain.y_title, 18, middle, "middle", TEXT, transform=f"rotate(-90 18 {middle:.1f})")


def _level_labels(frame: Frame, heights: Floats, scale: Scale, taken: list[Box]) -> Iterator[Markup]:
    """Every other level's value on its longest line, where that is straight and nothing else is written."""
    box = frame.box
    inside = Box(box.left + 4, box.top + 4, box.right - 4, box.bottom - 4)
    at = scale.level_heights()
    for i in range(len(at) - 1, -1, -2):
        text = f"{scale.levels[i]:g}"
        width = LETTER * 10.5 * len(text) + 4
        lines = [[frame.node(*place) for place in line] for line in isolines(heights, at[i])]
        best: tuple[float, Place, float] | None = None
        for line in sorted(lines, key=_length, reverse=True)[:2]:
            if _length(line) > 3 * width:
                best = min((spot for spot in _straight(line, width, inside, taken)), default=None)
            if best is not None:
                break
        if best is None:
            continue
        _, (x, y), angle = best
        taken.append(box_around((x, y), width + 24, width + 24))
        fill = GROUND if is_dark(scale.colours[i]) else TEXT
        turned = f"rotate({angle:.1f} {x:.1f} {y:.1f})"
        halo: dict[str, str | float | None] = {"paint_order": "stroke", "stroke": scale.colours[i], "stroke_width": 4}
        yield words(text, x, y + 3.6, "middle", fill, 10.5, transform=turned, stroke_linejoin="round", **halo)


def _straight(
    line: list[Place], width: float, inside: Box, taken: Sequence[Box]
) -> Iterator[tuple[float, Place, float]]:
    """Free places on a line for a label: how bent the line is there, where, and at which angle it runs."""
    steps = [math.dist(a, b) for a, b in pairwise(line)]
    along = np.concatenate([[0.0], np.cumsum(steps)])
    xs, ys = (np.array([place[k] for place in line]) for k in (0, 1))
    for middle in np.arange(width, along[-1] - width, 6.0):
        near = np.interp([middle - width / 2, middle, middle + width / 2], along, xs)
        down = np.interp([middle - width / 2, middle, middle + width / 2], along, ys)
        chord = math.hypot(near[2] - near[0], down[2] - down[0])
        angle = math.degrees(math.atan2(down[2] - down[0], near[2] - near[0]))
        angle -= 180 * round(angle / 180)
        half = abs(math.cos(math.radians(angle))) * width + 12, abs(math.sin(math.radians(angle))) * width + 12
        place = (float(near[1]), float(down[1]))
        box = box_around(place, *half)
        if holds(inside, box) and not any(touch(box, other) for other in taken):
            yield round((width - chord) + 0.05 * abs(angle), 6), place, angle


def _within(values: Floats) -> Axis:
    """The axis of exactly these values, with round marks inside."""
    low, high = float(values[0]), float(values[-1])
    ticks = tuple(tick for tick in round_axis([low, high], marks=6).ticks if low <= tick <= high)
    return Axis(low, high, ticks)


def _path(frame: Frame, line: Sequence[Place]) -> str:
    return "M" + "L".join("{:.1f} {:.1f}".format(*frame.node(*place)) for place in line)


def _length(line: Sequence[Place]) -> float:
    return sum(math.dist(a, b) for a, b in pairwise(line))
