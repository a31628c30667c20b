"""The ratios as bars: a panel per network, a bar per method and number of lanes, a line where the plain loop is."""

from collections.abc import Sequence

from superfed.bench.report import Report, Row
from superfed.bench.words import by_network, machine, times
from superfed.report.markup import Markup, element
from superfed.report.style import LIGHT

WIDTH, LEFT, RIGHT = 760.0, 170.0, 90.0
BAR, GAP, TITLE = 16.0, 5.0, 42.0
INK, QUIET = "#1b1f24", "#5b6470"


def chart(report: Report) -> str:
    """An SVG file's text."""
    parts: list[Markup] = []
    top = 46.0
    for name, rows in by_network(report).items():
        parts += _panel(name, rows, top)
        top += TITLE + len(rows) * (BAR + GAP)
    title = "Client-steps a second of the engine, as a multiple of the plain PyTorch loop's (dashed)"
    ground = element("rect", width=WIDTH, height=top + 10, fill="#ffffff")
    return element(
        "svg",
        element("title", title),
        ground,
        _text(f"{machine(report)}, {report.precision}", 12, 20, "start", INK),
        _text(title, 12, 38, "start", QUIET),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH:g} {top + 10:g}",
        width=WIDTH,
        height=top + 10,
        font_family="system-ui, sans-serif",
        font_size=13,
    )


def _panel(name: str, rows: Sequence[Row], top: float) -> list[Markup]:
    longest = max(1.0, *(row.found.ratio for row in rows))
    scale = (WIDTH - LEFT - RIGHT) / longest
    lanes = sorted({row.found.lanes for row in rows})
    first, height = top + TITLE - 12, len(rows) * (BAR + GAP)
    line = f"M{LEFT + scale:.1f} {first - 4:.1f}v{height + 4:.1f}"
    parts = [
        _text(name, LEFT, top + 18, "start", QUIET),
        element("path", d=line, stroke=QUIET, stroke_dasharray="4 3"),
    ]
    for place, row in enumerate(rows):
        y = first + place * (BAR + GAP)
        label = row.of.title if len(lanes) == 1 else f"{row.of.title}, {row.found.lanes} lanes"
        end = LEFT + row.found.ratio * scale
        colour = LIGHT[lanes.index(row.found.lanes) % len(LIGHT)]
        parts.append(_text(label, LEFT - 8, y + 12, "end", INK))
        parts.append(element("rect", x=LEFT, y=y, width=end - LEFT, height=BAR, fill=colour))
        parts.append(_text(times(row.found.ratio), end + 6, y + 12, "start", INK))
    return parts


def _text(words: str, x: float, y: float, anchor: str, colour: str) -> Markup:
    """With a rim of white, so that no line runs through it."""
    return element(
        "text",
        words,
        x=round(x, 1),
        y=round(y, 1),
        text_anchor=anchor,
        fill=colour,
        stroke="#ffffff",
        stroke_width=3,
        paint_order="stroke",
    )
