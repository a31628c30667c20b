"""A surface seen from above: bands of colour between isolines, found by marching squares, as one SVG.

It knows heights over a plane and named spots on it, and nothing of models. The picture brings its own colours and its
own ground, so that it looks the same in a page, in a paper and opened by itself.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from superfed.report.heat import is_dark
from superfed.report.holdings_draw import Box
from superfed.report.isolines import Floats, Place, isolines, regions
from superfed.report.markup import Markup, element
from superfed.report.scale import Axis, round_axis
from superfed.report.terrain import Scale, Terrain

GROUND, TEXT, QUIET, RULE = "#ffffff", "#1b1f24", "#5b6470", "#d9dde3"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
SIZE = 12.0
LETTER = 0.6
"""About the width of a letter, in a broad font, as a share of its size."""

_SIDE = 400.0
"""The longer side of the plot."""

HALF = "λ = 0.5"


def contour(terrain: Terrain, scale: Scale | None = None) -> Markup:
    """The picture."""
    scale = scale or Scale.of([terrain])
    frame = Frame.of(terrain)
    heights = scale.height(terrain.values)
    places = [frame.place(spot.x, spot.y) for spot in terrain.spots]
    lines = [(places[start], places[stop]) for start, stop in terrain.lines]
    taken = [box_around(place, 14, 14) for place in places]
    names = list(_names(terrain, frame, taken))
    labels = list(_level_labels(frame, heights, scale, taken))
    parts = [
        *_bands(frame, heights, scale),
        *_isolines(frame, heights, scale),
        *_gaps(frame, heights),
        *_axes(frame, terrain),
        *labels,
        *(part for line in lines for part in (*lambda_line(line), half_way(along(*line, 0.5)))),
        *(mark(place, i, note(terrain, i)) for i, place in enumerate(places)),
        *names,
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


def picture(width: float, height: float, description: str, title: str, parts: Sequence[Markup]) -> Markup:
    ground = element("rect", width=width, height=height, fill=GROUND)
    heading = words(title, 16, 24, "start", TEXT, 15, font_weight="600")
    return element(
        "svg",
        ground,
        heading,
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        aria_label=description,
        font_family=FONT,
    )


def words(
    text: str, x: float, y: float, anchor: str, fill: str = QUIET, size: float = SIZE, **attributes: str | float | None
) -> Markup:
    return element("text", text, x=_r(x), y=_r(y), text_anchor=anchor, fill=fill, font_size=size, **attributes)


def mark(place: Place, index: int, note: str) -> Markup:
    """A shape for each spot: colour alone would be lost on bands of every colour."""
    x, y = place
    shapes = (
        f"M{x - 5.5:.1f} {y:.1f}a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0Z",
        f"M{x - 4.8:.1f} {y - 4.8:.1f}h9.6v9.6h-9.6Z",
        f"M{x:.1f} {y - 6.2:.1f}l6 10.6h-12Z",
        f"M{x:.1f} {y - 6.8:.1f}l6.8 6.8l-6.8 6.8l-6.8 -6.8Z",
    )
    path = shapes[index % len(shapes)]
    return element("path", element("title", note), d=path, fill=GROUND, stroke=TEXT, stroke_width=1.8)


def lambda_line(path: Sequence[Place]) -> Iterator[Markup]:
    """White on a dark edge, so that it is seen on every band."""
    d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in path)
    yield element("path", d=d, fill="none", stroke=TEXT, stroke_width=3.2, stroke_opacity=0.55)
    yield element("path", d=d, fill="none", stroke=GROUND, stroke_width=1.6, stroke_dasharray="6 3.5")


def half_way(place: Place) -> Markup:
    return element("circle", element("title", HALF), cx=_r(place[0]), cy=_r(place[1]), r=3, fill=GROUND, stroke=TEXT)


def legend(scale: Scale, quantity: str, left: float, top: float, bottom: float) -> Iterator[Markup]:
    """The bands one on another, with the levels between them."""
    yield words(scale.name(quantity), left - 2, top - 10, "start", TEXT)
    colours = scale.colours
    step = (bottom - top) / len(colours)
    for i, colour in enumerate(colours):
        yield element("rect", x=_r(left), y=_r(bottom - (i + 1) * step), width=15, height=_r(step), fill=colour)
    yield element("rect", x=_r(left), y=_r(top), width=15, height=_r(bottom - top), fill="none", stroke=QUIET)
    for i, level in enumerate(scale.levels):
        place = bottom - (i + 1) * step
        yield element("path", d=f"M{left + 15:.1f} {place:.1f}h4", stroke=QUIET)
        yield words(f"{level:g}", left + 23, place + 4, "start")
    if not scale.levels:
        yield words(f"{scale.low:.4g}", left + 23, (top + bottom) / 2 + 4, "start")
    if scale.capped:
        yield words("higher", left + 23, top + step / 2 + 4, "start")


def tag(text: str, middle: Place, size: float = SIZE, weight: str | None = "600") -> Iterator[Markup]:
    """Words on a pale ground of their own, legible on any band."""
    box = tag_box(text, middle, size)
    yield element(
        "rect",
        x=_r(box.left),
        y=_r(box.top),
        width=_r(box.width),
        height=_r(box.height),
        rx=3,
        fill=GROUND,
        fill_opacity=0.8,
    )
    yield words(text, middle[0], middle[1] + 0.35 * size, "middle", TEXT, size, font_weight=weight)


def tag_box(text: str, middle: Place, size: float = SIZE) -> Box:
    return box_around(middle, LETTER * size * len(text) + 8, 1.45 * size)


def free_place(text: str, spot: Place, inside: Box, taken: Sequence[Box], size: float = SIZE) -> Place:
    """The middle of the nearest free place for a spot's name; right of the spot if it can be."""
    box = tag_box(text, spot, size)
    possible = []
    for away in (0.0, 12.0, 24.0, 40.0, 60.0, 85.0):
        for across, down in ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1)):
            middle = (
                spot[0] + across * (box.width / 2 + (11 if down == 0 else -4) + away),
                spot[1] + down * (box.height / 2 + 10 + away),
            )
            if _holds(inside, tag_box(text, middle, size)):
                possible.append(middle)
    free = [m for m in possible if not any(_touch(tag_box(text, m, size), other) for other in taken)]
    if free or possible:
        return (free or possible)[0]
    return (inside.left + inside.right) / 2, min(max(spot[1], inside.top + 9), inside.bottom - 9)


def _names(terrain: Terrain, frame: Frame, taken: list[Box]) -> Iterator[Markup]:
    """The spots' names and the λ-lines' middles, each where it covers nothing; ``taken`` grows by what they take."""
    box = frame.box
    inside = Box(box.left + 2, box.top + 2, box.right - 2, box.bottom - 2)
    places = [frame.place(spot.x, spot.y) for spot in terrain.spots]
    lines = [(places[start], places[stop]) for start, stop in terrain.lines]
    taken += [box_around(along(*line, share / 12), 8, 8) for line in lines for share in range(1, 12)]
    for spot, place in zip(terrain.spots, places, strict=True):
        middle = free_place(spot.name, place, inside, taken)
        taken.append(tag_box(spot.name, middle))
        yield from tie(place, taken[-1])
        yield from tag(spot.name, middle)
    for line in lines:
        middle = free_place(HALF, along(*line, 0.5), inside, taken, 10.5)
        taken.append(tag_box(HALF, middle, 10.5))
        yield from tie(along(*line, 0.5), taken[-1])
        yield from tag(HALF, middle, 10.5, None)


def tie(spot: Place, box: Box) -> Iterator[Markup]:
    """A hair from a spot to its name, where they are apart."""
    x, y = min(max(spot[0], box.left), box.right), min(max(spot[1], box.top), box.bottom)
    if math.hypot(x - spot[0], y - spot[1]) > 16:
        yield element("path", d=f"M{spot[0]:.1f} {spot[1]:.1f}L{x:.1f} {y:.1f}", stroke=TEXT, stroke_width=0.9)


def _bands(frame: Frame, heights: Floats, scale: Scale) -> Iterator[Markup]:
    """The lowest colour everywhere, and on it, one on another, all that is as high as each level: no seams can show."""
    box, colours = frame.box, scale.colours
    yield element("rect", x=_r(box.left), y=_r(box.top), width=_r(box.width), height=_r(box.height), fill=colours[0])
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
    yield element(
        "rect", x=_r(box.left), y=_r(box.top), width=_r(box.width), height=_r(box.height), fill="none", stroke=QUIET
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
        if _holds(inside, box) and not any(_touch(box, other) for other in taken):
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


def along(a: Place, b: Place, share: float) -> Place:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


def box_around(middle: Place, width: float, height: float) -> Box:
    x, y = middle
    return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def _touch(a: Box, b: Box) -> bool:
    return a.left < b.right and b.left < a.right and a.top < b.bottom and b.top < a.bottom


def _holds(outer: Box, inner: Box) -> bool:
    return (
        outer.left <= inner.left
        and inner.right <= outer.right
        and outer.top <= inner.top
        and inner.bottom <= outer.bottom
    )


def note(terrain: Terrain, index: int) -> str:
    spot = terrain.spots[index]
    return f"{spot.name}: {terrain.quantity} {spot.value:.4g}"


def _r(value: float) -> float:
    return round(value, 1)
