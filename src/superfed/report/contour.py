"""A surface seen from above: bands of colour between isolines, found by marching squares, as one SVG.

It knows heights over a plane and named spots on it, and nothing of models. The picture brings its own colours and its
own ground, so that it looks the same in a page, in a paper and opened by itself.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from superfed.report.holdings_draw import Box
from superfed.report.markup import Markup, element
from superfed.report.scale import Axis, round_axis

GROUND, TEXT, QUIET, RULE = "#ffffff", "#1b1f24", "#5b6470", "#d9dde3"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
SIZE = 12.0
LETTER = 0.6
"""About the width of a letter, in a broad font, as a share of its size."""

_SIDE = 400.0
"""The longer side of the plot."""
_MOST_LEVELS = 11
_LEAST = 2e-3
"""The lowest level is not below this share of the highest: lower still, all is valley."""
_SERIES = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8))

Floats = NDArray[np.float64]
Place = tuple[float, float]
HALF = "λ = 0.5"


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


def heat(share: float) -> str:
    """A colour from deep indigo, 0, over teal to pale yellow, 1: lightness grows evenly, so that grey print keeps the order.

    Written in OKLCH; chroma gives way where sRGB has not so much of it.
    """
    lightness = 0.30 + 0.66 * share
    hue = math.radians(285 - 185 * share)
    chroma = 0.145 - 0.05 * share
    while True:
        rgb = _srgb(lightness, chroma * math.cos(hue), chroma * math.sin(hue))
        if chroma <= 0 or all(-1e-4 <= part <= 1 + 1e-4 for part in rgb):
            break
        chroma -= 0.002
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, part))):02x}" for part in rgb)


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


def _within(values: Floats) -> Axis:
    """The axis of exactly these values, with round marks inside."""
    low, high = float(values[0]), float(values[-1])
    ticks = tuple(tick for tick in round_axis([low, high], marks=6).ticks if low <= tick <= high)
    return Axis(low, high, ticks)


def _srgb(lightness: float, a: float, b: float) -> list[float]:
    """From OKLab (Ottosson, 2020)."""
    l, m, s = (  # noqa: E741
        (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3,
        (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3,
        (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3,
    )
    linear = (
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    )
    return [12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055 for part in linear]


def is_dark(colour: str) -> bool:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 140


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
