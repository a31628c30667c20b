"""A line chart as inline SVG. It knows lines, bands and axes, and nothing of runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from superfed.report.markup import Markup, element, join
from superfed.report.scale import Axis, spaced
from superfed.report.style import NUM_COLOURS

CHARACTER = 8.2  # about the width of one, at the size that labels are written in, where the font is a broad one
_LINE = 17.0


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    low: float
    high: float
    note: str
    """Shown when the pointer rests on it."""


@dataclass(frozen=True)
class Line:
    """Points joined; or, ``level``, one value across the chart, dashed."""

    name: str
    points: Sequence[Point]
    index: int
    """Decides colour and mark."""
    level: bool = False
    band: bool = True


@dataclass(frozen=True)
class Labels:
    """What is written at the axes; ``start`` and ``end`` stand under the ends of x."""

    description: str
    x: str
    y: str
    start: str = ""
    end: str = ""


@dataclass(frozen=True)
class Size:
    kind: str
    """Its CSS class: the page shows the chart that fits."""
    width: float
    height: float
    direct: bool
    """Whether lines are named at their right ends; where there is no room, a legend has to do."""


WIDE = Size("wide", 920, 430, direct=True)
NARROW = Size("narrow", 400, 330, direct=False)


def chart(lines: Sequence[Line], x: Axis, y: Axis, labels: Labels, size: Size) -> Markup:
    frame = _Frame(x, y, size, max((len(line.name) for line in lines), default=0) if size.direct else 0)
    ordered = sorted(lines, key=lambda line: -line.index)  # the first is drawn last, on top
    parts = [*_grid(frame, labels)]
    parts += [_band(frame, line) for line in ordered if line.band and not line.level and len(line.points) > 1]
    parts += [_stroke(frame, line) for line in ordered]
    parts += [mark for line in ordered if not line.level for mark in _marks(frame, line)]
    if size.direct:
        parts += _names(frame, [line for line in lines if line.points])
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {size.width:g} {size.height:g}",
        role="img",
        aria_label=labels.description,
        class_=f"chart {size.kind}",
    )


def legend(lines: Sequence[Line]) -> Markup:
    """The names of the lines beside a piece of each."""
    entries = []
    for line in lines:
        sample = element("path", d="M1 7H27", class_=_classes("stroke", line))
        mark = [] if line.level else [_mark(14, 7, line)]
        picture = element("svg", sample, *mark, viewBox="0 0 28 14", width=28, height=14, aria_hidden="true")
        entries.append(element("li", picture, " ", line.name))
    return element("ul", *entries, class_="legend")


class _Frame:
    """From values to places in the picture."""

    def __init__(self, x: Axis, y: Axis, size: Size, longest_name: int) -> None:
        self.x, self.y, self.size = x, y, size
        self.left, self.top = 52.0, 14.0
        self.right = size.width - (longest_name * CHARACTER + 46 if longest_name else 14)
        self.bottom = size.height - 52

    def across(self, value: float) -> float:
        return self.left + (self.right - self.left) * self.x.share(value)

    def down(self, value: float) -> float:
        return self.bottom - (self.bottom - self.top) * self.y.share(value)


def _grid(frame: _Frame, labels: Labels) -> list[Markup]:
    parts = []
    for tick in frame.y.ticks:
        place = frame.down(tick)
        parts.append(element("path", d=f"M{frame.left:.1f} {place:.1f}H{frame.right:.1f}", class_="grid"))
        parts.append(text(f"{tick:g}", frame.left - 8, place + 4, "end"))
    for tick in frame.x.ticks:
        place = frame.across(tick)
        parts.append(element("path", d=f"M{place:.1f} {frame.bottom:.1f}v5", class_="axis"))
        parts.append(text(f"{tick:g}", place, frame.bottom + 19, "middle"))
    parts.append(element("path", d=f"M{frame.left:.1f} {frame.bottom:.1f}H{frame.right:.1f}", class_="axis"))
    below = frame.bottom + 40
    parts.append(text(labels.x, (frame.left + frame.right) / 2, below, "middle", "title"))
    parts.append(text(labels.start, frame.left - 4, below, "start", "end-of-axis"))
    parts.append(text(labels.end, frame.right + 4, below, "end", "end-of-axis"))
    middle = (frame.top + frame.bottom) / 2
    turned = f"rotate(-90 13 {middle:.1f})"
    parts.append(element("text", labels.y, x=13, y=middle, text_anchor="middle", transform=turned, class_="title"))
    return parts


def text(words: str, x: float, y: float, anchor: str, class_: str | None = None) -> Markup:
    return (
        element("text", words, x=round(x, 1), y=round(y, 1), text_anchor=anchor, class_=class_) if words else Markup()
    )


def _band(frame: _Frame, line: Line) -> Markup:
    above = [f"{frame.across(p.x):.1f} {frame.down(p.high):.1f}" for p in line.points]
    below = [f"{frame.across(p.x):.1f} {frame.down(p.low):.1f}" for p in reversed(line.points)]
    return element("path", d="M" + "L".join(above + below) + "Z", class_=_classes("band", line))


def _stroke(frame: _Frame, line: Line) -> Markup:
    if not line.points:
        return Markup()
    if line.level:
        path = f"M{frame.left:.1f} {frame.down(line.points[0].y):.1f}H{frame.right:.1f}"
        note = element("title", line.points[0].note)
        # a thin dashed line is hard to hit, so an unseen broad one takes the pointer
        return join(
            [
                element("path", d=path, class_=_classes("stroke", line)),
                element("path", note, d=path, class_="target"),
            ]
        )
    path = "M" + "L".join(f"{frame.across(p.x):.1f} {frame.down(p.y):.1f}" for p in line.points)
    return element("path", d=path, class_=_classes("stroke", line))


def _marks(frame: _Frame, line: Line) -> list[Markup]:
    return [_mark(frame.across(p.x), frame.down(p.y), line, p.note) for p in line.points]


def _mark(x: float, y: float, line: Line, note: str = "") -> Markup:
    """A shape of its own for each line, so that colour is never the only difference."""
    shapes = (
        f"M{x - 4:.1f} {y:.1f}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
        f"M{x - 3.6:.1f} {y - 3.6:.1f}h7.2v7.2h-7.2Z",
        f"M{x:.1f} {y - 4.8:.1f}l4.6 8.2h-9.2Z",
        f"M{x:.1f} {y - 5.2:.1f}l5.2 5.2l-5.2 5.2l-5.2 -5.2Z",
        f"M{x:.1f} {y + 4.8:.1f}l4.6 -8.2h-9.2Z",
    )
    inside = [element("title", note)] if note else []
    return element("path", *inside, d=shapes[line.index % len(shapes)], class_=_classes("mark", line))


def _names(frame: _Frame, lines: Sequence[Line]) -> list[Markup]:
    """Each line's name at its right end, moved where two would touch and tied to its line by a hair."""
    ends = [frame.down(line.points[-1].y) for line in lines]
    places = spaced(ends, _LINE, frame.top, frame.bottom)
    parts = []
    for line, end, place in zip(lines, ends, places, strict=True):
        last = frame.right if line.level else frame.across(line.points[-1].x)
        hair = f"M{last + 6:.1f} {end:.1f}L{frame.right + 14:.1f} {place:.1f}"
        sample = f"M{frame.right + 16:.1f} {place:.1f}h18"
        parts.append(element("path", d=hair, class_="hair"))
        parts.append(element("path", d=sample, class_=_classes("stroke", line)))
        if not line.level:
            parts.append(_mark(frame.right + 25, place, line))
        parts.append(text(line.name, frame.right + 40, place + 4, "start", "name"))
    return parts


def _classes(kind: str, line: Line) -> str:
    """A colour comes again after the last one; a mark then differs, and a level line is dotted."""
    again = " again" if line.index >= NUM_COLOURS else ""
    return f"{kind} c{line.index % NUM_COLOURS}" + (f" level{again}" if line.level else "")
