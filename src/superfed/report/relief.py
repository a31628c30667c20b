"""A surface seen from the side: the same heights and colours as its contour plot, as a block in three dimensions.

Painted from the back to the front.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np

from superfed.report.figure_parts import QUIET, TEXT, picture, words
from superfed.report.heat import is_dark
from superfed.report.holdings_draw import Box
from superfed.report.isolines import Place, isolines
from superfed.report.markup import Markup, element
from superfed.report.plane_marks import box_around, half_way, lambda_line, legend, mark, names, note
from superfed.report.relief_view import TALL, View
from superfed.report.terrain import Scale, Terrain

TURNS = (30.0, 120.0, 210.0, 300.0)

_LIGHT = (-0.42, -0.3, 0.86)  # from the left, from the front, from above

Corner = tuple[float, float, float]


def relief(terrain: Terrain, scale: Scale | None = None, azimuth: float | None = None) -> Markup:
    """The picture, turned by ``azimuth`` degrees; without a number, as ``best_turn`` has it."""
    scale = scale or Scale.of([terrain])
    view = View.of(terrain, scale, best_turn([terrain], scale) if azimuth is None else azimuth)
    box = view.box
    parts = [
        *_ground(view),
        *_sides(view, facing=False),
        *_cells(view, scale),
        *_sides(view, facing=True),
        *_height_axis(view, scale, terrain.quantity),
        *_marks(view, terrain),
        *legend(scale, terrain.quantity, box.right + 30, box.top + 4, box.bottom - 4),
    ]
    description = f"Relief of {terrain.quantity}: {terrain.title}."
    return picture(box.right + 110, box.bottom + 22, description, terrain.title, parts)


def best_turn(terrains: Sequence[Terrain], scale: Scale) -> float:
    """Of four turns the one with the lowest ground in front, so that hills hide least; one for pictures to be compared."""

    def in_front(turn: float) -> float:
        return sum(View.of(terrain, scale, turn).in_front for terrain in terrains)

    return min(TURNS, key=lambda turn: (round(in_front(turn), 9), turn))


def _ground(view: View) -> Iterator[Markup]:
    yield element(
        "path",
        d=_closed([view.seen(x, y, 0.0) for x, y in view.corners]),
        fill="#f5f6f8",
        stroke=QUIET,
        stroke_width=0.8,
    )


def _cells(view: View, scale: Scale) -> Iterator[Markup]:
    """From the back to the front, each with its pieces of isolines, so that what is nearer covers both."""
    rows, columns = view.heights.shape
    lines = _pieces_of_isolines(view, scale)
    levels, colours = scale.level_heights(), scale.colours
    order = sorted(
        ((r, c) for r in range(rows - 1) for c in range(columns - 1)),
        key=lambda cell: (-round(view.depth(view.xs[cell[1]], view.ys[cell[0]]), 9), cell),
    )
    for row, column in order:
        corners = [(view.xs[c], view.ys[r], view.heights[r, c]) for r, c in _around(row, column)]
        if not np.isfinite(corners).all():
            continue
        light = _lit(view, row, column)
        for band, piece in _slices(corners, levels):
            level = scale.capped and band == len(levels)
            colour = colours[band] if level else _shaded(colours[band], light)
            d = _closed([view.seen(*corner) for corner in piece])
            yield element("path", d=d, fill=colour, stroke=colour, stroke_width=0.8)
        for stroke, d in lines.get((row, column), ()):
            yield element("path", d=d, fill="none", stroke=stroke, stroke_width=0.7, stroke_opacity=0.55)


def _slices(corners: list[Corner], levels: Sequence[float]) -> Iterator[tuple[int, list[Corner]]]:
    """A cell cut at the levels: its pieces, and the bands they lie in. So bands end where isolines run, not at cells."""
    rest = corners
    for band, level in enumerate(levels):
        below, rest = _cut(rest, level)
        if below:
            yield band, below
    if rest:
        yield len(levels), rest


def _cut(corners: list[Corner], level: float) -> tuple[list[Corner], list[Corner]]:
    """The parts below and above, either empty where there is none."""
    below: list[Corner] = []
    above: list[Corner] = []
    for one, other in zip(corners, [*corners[1:], *corners[:1]], strict=True):
        (below if one[2] < level else above).append(one)
        if (one[2] < level) != (other[2] < level):
            share = (level - one[2]) / (other[2] - one[2])
            edge = (one[0] + share * (other[0] - one[0]), one[1] + share * (other[1] - one[1]), level)
            below.append(edge)
            above.append(edge)
    return (below if len(below) > 2 else []), (above if len(above) > 2 else [])


def _pieces_of_isolines(view: View, scale: Scale) -> dict[tuple[int, int], list[tuple[str, str]]]:
    """For each cell the colours and paths of the pieces in it."""
    found: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for level, colour in zip(scale.level_heights(), scale.colours, strict=False):
        stroke = "#ffffff" if is_dark(colour) else TEXT
        for line in isolines(view.heights, level):
            for a, b in pairwise(line):
                cell = math.floor((a[0] + b[0]) / 2), math.floor((a[1] + b[1]) / 2)
                piece = _open([_on_grid(view, place, level) for place in (a, b)])
                found.setdefault(cell, []).append((stroke, piece))
    return found


def _on_grid(view: View, place: Place, z: float) -> Place:
    x = np.interp(place[1], np.arange(len(view.xs)), view.xs)
    y = np.interp(place[0], np.arange(len(view.ys)), view.ys)
    return view.seen(float(x), float(y), z)


def _sides(view: View, *, facing: bool) -> Iterator[Markup]:
    """The sides of the block that face the viewer, as walls; or of the other two the upper edges, painted before all else."""
    last_row, last_column = len(view.ys) - 1, len(view.xs) - 1
    sides: list[tuple[Place, list[tuple[int, int]]]] = [
        ((0.0, -1.0), [(0, c) for c in range(last_column + 1)]),
        ((1.0, 0.0), [(r, last_column) for r in range(last_row + 1)]),
        ((0.0, 1.0), [(last_row, c) for c in range(last_column + 1)]),
        ((-1.0, 0.0), [(r, 0) for r in range(last_row + 1)]),
    ]
    for (x, y), edge in sides:
        if (view.depth(x, y) < 0) != facing:
            continue
        shade = "#c9ced6" if view.seen(x, y, 0.0)[0] < view.shift[0] else "#dde1e7"
        for finite, run in groupby(edge, key=lambda node: bool(np.isfinite(view.heights[node]))):
            nodes = list(run)
            if not finite or len(nodes) < 2:
                continue
            rim = [view.seen(view.xs[c], view.ys[r], view.heights[r, c]) for r, c in nodes]
            foot = [view.seen(view.xs[c], view.ys[r], 0.0) for r, c in (nodes[-1], nodes[0])]
            if facing:
                yield element("path", d=_closed([*rim, *foot]), fill=shade, stroke=QUIET, stroke_width=0.8)
            else:  # half of the stroke is seen beyond the cells
                yield element("path", d=_open(rim), fill="none", stroke=QUIET, stroke_width=2.2)


def _height_axis(view: View, scale: Scale, quantity: str) -> Iterator[Markup]:
    """Up the corner that is furthest to the left."""
    x, y = min(view.corners, key=lambda at: (round(view.seen(at[0], at[1], 0.0)[0], 6), at))
    (foot_x, foot_y), (_, top_y) = view.seen(x, y, 0.0), view.seen(x, y, 1.0)
    yield element("path", d=f"M{foot_x:.1f} {foot_y:.1f}V{top_y:.1f}", stroke=QUIET, stroke_width=0.8)
    above = math.inf
    for level, height in sorted(zip(scale.levels, scale.level_heights(), strict=True), reverse=True):
        place = view.seen(x, y, height)[1]
        if abs(place - above) < 22 and above != math.inf:
            continue
        above = place
        yield element("path", d=f"M{foot_x:.1f} {place:.1f}h-5", stroke=QUIET, stroke_width=0.8)
        yield words(f"{level:g}", foot_x - 9, place + 4, "end")
    yield words(scale.name(quantity), 10, top_y - 14, "start", TEXT)


def _marks(view: View, terrain: Terrain) -> Iterator[Markup]:
    """λ-lines laid over the surface, dotted where a hill stands before them; and spots, there on stems above the hill."""
    box = view.box
    inside = Box(box.left, box.top - 20, box.right, box.bottom)
    feet = [_spot(view, spot.x, spot.y) for spot in terrain.spots]
    places = [_in_sight(view, spot.x, spot.y) for spot in terrain.spots]
    taken = [box_around(place, 14, 14) for place in places]
    middles = []
    for start, stop in terrain.lines:
        one, other = terrain.spots[start], terrain.spots[stop]
        path = [(one.x + t / 80 * (other.x - one.x), one.y + t / 80 * (other.y - one.y)) for t in range(81)]
        for hidden, part in groupby(pairwise(path), key=lambda piece: _behind(view, *piece[1])):
            pieces = [piece for piece in part if all(math.isfinite(view.height_at(*end)) for end in piece)]
            if not pieces:
                continue
            seen = [_spot(view, *pieces[0][0]), *(_spot(view, *b) for _, b in pieces)]
            if hidden:
                yield element(
                    "path",
                    d=_open(seen),
                    fill="none",
                    stroke="#ffffff",
                    stroke_width=1.2,
                    stroke_opacity=0.6,
                    stroke_dasharray="1.5 3",
                )
            else:
                yield from lambda_line(seen)
        middles.append(_in_sight(view, *path[40]))
        taken += [box_around(_spot(view, *place), 8, 8) for place in path[4:-4:4]]
    yield from (half_way(place) for place in middles)
    for (x, foot), (_, head) in zip(feet, places, strict=True):
        if foot != head:
            yield element("path", d=f"M{x:.1f} {foot:.1f}V{head:.1f}", stroke=TEXT, stroke_dasharray="2 2")
    yield from (mark(place, i, note(terrain, i)) for i, place in enumerate(places))
    named = [(spot.name, place) for spot, place in zip(terrain.spots, places, strict=True)]
    yield from names(named, middles, inside, taken)


def _spot(view: View, x: float, y: float) -> Place:
    z = view.height_at(x, y)
    return view.seen(x, y, z if math.isfinite(z) else 0.0)


def _behind(view: View, x: float, y: float) -> bool:
    return view.hidden(x, y, view.height_at(x, y))


def _in_sight(view: View, x: float, y: float) -> Place:
    """A spot on the surface, or as high above it as it takes to see it."""
    low = view.height_at(x, y)
    if not math.isfinite(low):
        return _spot(view, x, y)
    steps = np.linspace(low, 1.0, 51)
    return view.seen(x, y, next((float(z) for z in steps if not view.hidden(x, y, float(z))), 1.0))


def _around(row: int, column: int) -> list[tuple[int, int]]:
    return [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]


def _lit(view: View, row: int, column: int) -> float:
    """How much light falls on a cell, from -1 to 1, as the viewer sees it."""
    h, tall = view.heights, TALL * view.side
    east = (h[row : row + 2, column + 1] - h[row : row + 2, column]).mean() * tall
    north = (h[row + 1, column : column + 2] - h[row, column : column + 2]).mean() * tall
    slope_x, slope_y = east / (view.xs[1] - view.xs[0]), north / (view.ys[1] - view.ys[0])
    across = slope_x * math.cos(view.turn) - slope_y * math.sin(view.turn)
    behind = slope_x * math.sin(view.turn) + slope_y * math.cos(view.turn)
    light = -across * _LIGHT[0] - behind * _LIGHT[1] + _LIGHT[2]
    return float(light / math.sqrt(1 + across**2 + behind**2))


def _shaded(colour: str, light: float) -> str:
    """Lighter or darker than a level piece would be."""
    change = 0.3 * (light - _LIGHT[2])
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    towards = 255 if change > 0 else 0
    return "#" + "".join(f"{round(part + min(abs(change), 0.35) * (towards - part)):02x}" for part in parts)


def _open(places: Sequence[Place]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)


def _closed(places: Sequence[Place]) -> str:
    return _open(places) + "Z"
