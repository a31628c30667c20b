"""Small multiples: line charts with bands side by side, on the same axes, as one SVG.

Like the pictures of surfaces it brings its own colours and its own ground, so that it looks the same in a page, in a paper
and opened by itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from superfed.report.figure_parts import GROUND, LETTER, QUIET, RULE, TEXT, picture, words
from superfed.report.holdings_draw import Box
from superfed.report.markup import Markup, element
from superfed.report.scale import Axis
from superfed.report.style import LIGHT
from superfed.report.svg import Line, Point

GAP = 22.0
HEAD = 20.0
"""Above a panel, for its title."""
LEFT, TOP, BOTTOM, RIGHT = 64.0, 44.0, 50.0, 18.0
SMALL = 11.0


@dataclass(frozen=True)
class Panel:
    """``remarks`` stand beside the title, each in the colour of the line with its place; without lines they say why."""

    title: str
    lines: Sequence[Line]
    remarks: Sequence[str] = ()
    rings: Sequence[float] = ()
    """Where on x a point of the line with this place is ringed."""


def panels(
    title: str, rows: Sequence[Sequence[Panel]], x: Axis, y: Axis, x_title: str, y_title: str, size: tuple[float, float]
) -> Markup:
    """The picture; ``size`` is that of each panel, without what is written around it."""
    width, height = size
    columns = max(len(row) for row in rows)
    across = LEFT + columns * width + (columns - 1) * GAP + RIGHT
    named = {line.name: line for row in rows for panel in row for line in panel.lines}
    shared = any(len(panel.lines) > 1 for row in rows for panel in row)
    top = TOP + (24 if shared else 0)
    down = top + len(rows) * (height + HEAD) + (len(rows) - 1) * GAP + BOTTOM
    parts = [*_legend(list(named.values()), LEFT, TOP + 8)] if shared else []
    for i, row in enumerate(rows):
        for j, panel in enumerate(row):
            left, upper = LEFT + j * (width + GAP), top + i * (height + HEAD + GAP) + HEAD
            box = Box(left, upper, left + width, upper + height)
            parts += _panel(panel, box, x, y, first=j == 0, last=i == len(rows) - 1)
    middle = (top + HEAD + down - BOTTOM) / 2
    parts.append(words(x_title, (LEFT + across - RIGHT) / 2, down - 12, "middle", TEXT))
    parts.append(words(y_title, 18, middle, "middle", TEXT, transform=f"rotate(-90 18 {middle:.1f})"))
    names = [panel.title for row in rows for panel in row]
    return picture(across, down, f"{title}: {y_title} over {x_title}, for {'; '.join(names)}.", title, parts)


def _panel(panel: Panel, box: Box, x: Axis, y: Axis, *, first: bool, last: bool) -> Iterator[Markup]:
    yield words(panel.title, box.left, box.top - 7, "start", TEXT, font_weight="600")
    for tick in y.ticks:
        place = _down(box, y, tick)
        yield element("path", d=f"M{box.left:.1f} {place:.1f}H{box.right:.1f}", stroke=RULE, fill="none")
        if first:
            yield words(f"{tick:g}", box.left - 8, place + 4, "end", size=SMALL)
    yield element("path", d=f"M{box.left:.1f} {box.bottom:.1f}H{box.right:.1f}", stroke=QUIET, fill="none")
    for tick in x.ticks:
        place = _across(box, x, tick)
        yield element("path", d=f"M{place:.1f} {box.bottom:.1f}v4", stroke=QUIET)
        if last:
            yield words(f"{tick:g}", place, box.bottom + 17, "middle", size=SMALL)
    for line in panel.lines:
        yield _band(line, box, x, y)
    for place, line in enumerate(panel.lines):
        yield _stroke(line, box, x, y)
        for point in line.points:
            yield _mark(line, point, box, x, y, ringed=panel.rings[place : place + 1] == (point.x,))
    yield from _remarks(panel, box)


def _remarks(panel: Panel, box: Box) -> Iterator[Markup]:
    """From the right, above the panel."""
    right = box.right
    for place, remark in reversed(list(enumerate(panel.remarks))):
        fill = _colour(panel.lines[place]) if place < len(panel.lines) else QUIET
        yield words(remark, right, box.top - 7, "end", fill, SMALL, font_weight="600")
        right -= LETTER * SMALL * len(remark) + 8


def _mark(line: Line, point: Point, box: Box, x: Axis, y: Axis, *, ringed: bool) -> Markup:
    colour = _colour(line)
    return element(
        "circle",
        element("title", point.note),
        cx=round(_across(box, x, point.x), 1),
        cy=round(_down(box, y, point.y), 1),
        r=4.2 if ringed else 2.6,
        fill=GROUND if ringed else colour,
        stroke=colour if ringed else GROUND,
        stroke_width=2 if ringed else 0.8,
    )


def _legend(lines: Sequence[Line], left: float, place: float) -> Iterator[Markup]:
    for line in lines:
        colour = _colour(line)
        yield element("path", d=f"M{left:.1f} {place:.1f}h24", stroke=colour, stroke_width=2)
        yield element("circle", cx=round(left + 12, 1), cy=place, r=2.6, fill=colour, stroke=GROUND, stroke_width=0.8)
        yield words(line.name, left + 31, place + 4, "start", TEXT)
        left += 31 + 12 * LETTER * len(line.name) + 18


def _band(line: Line, box: Box, x: Axis, y: Axis) -> Markup:
    above = [f"{_across(box, x, p.x):.1f} {_down(box, y, p.high):.1f}" for p in line.points]
    below = [f"{_across(box, x, p.x):.1f} {_down(box, y, p.low):.1f}" for p in reversed(line.points)]
    return element("path", d="M" + "L".join(above + below) + "Z", fill=_colour(line), fill_opacity=0.14)


def _stroke(line: Line, box: Box, x: Axis, y: Axis) -> Markup:
    def at(point: Point) -> str:
        return f"{_across(box, x, point.x):.1f} {_down(box, y, point.y):.1f}"

    d = "M" + "L".join(at(point) for point in line.points)
    return element("path", d=d, fill="none", stroke=_colour(line), stroke_width=2, stroke_linejoin="round")


def _across(box: Box, x: Axis, value: float) -> float:
    return box.left + box.width * x.share(value)


def _down(box: Box, y: Axis, value: float) -> float:
    return box.bottom - box.height * y.share(value)


def _colour(line: Line) -> str:
    return LIGHT[line.index % len(LIGHT)]
