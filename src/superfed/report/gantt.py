"""Who does what when: a row for each, bars along time, as one SVG that brings its own colours and ground."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from superfed.report.figure_parts import GROUND, LETTER, QUIET, RULE, TEXT, picture, words
from superfed.report.markup import Markup, element
from superfed.report.scale import Axis
from superfed.report.style import LIGHT

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 860.0, 52.0, 18.0, 72.0, 48.0
SMALL = 11.0


@dataclass(frozen=True)
class Bar:
    row: int
    begin: float
    ready: float
    """Until then it only prepares."""
    end: float
    kind: int
    """Decides its colour, and what the legend calls it."""
    note: str
    """Shown when the pointer rests on it."""


def gantt(
    title: str,
    bars: Sequence[Bar],
    rows: int,
    kinds: Sequence[str],
    time: Axis,
    titles: tuple[str, str],
    row_height: float,
) -> Markup:
    """The picture. ``titles`` are those of time and of a row, which have numbers from 1 on; the legend has the kinds that
    there are."""
    time_title, row_title = titles
    bottom = TOP + rows * row_height
    parts = [*_legend([(i, name) for i, name in enumerate(kinds) if any(bar.kind == i for bar in bars)])]
    for tick in time.ticks:
        x = _across(time, tick)
        parts.append(element("path", d=f"M{x:.1f} {TOP:.1f}V{bottom:.1f}", stroke=RULE))
        parts.append(words(f"{tick:g}", x, bottom + 17, "middle", size=SMALL))
    parts.append(words(row_title, LEFT - 8, TOP - 8, "end", TEXT))
    for row in _named(rows, row_height):
        middle = TOP + (row - 0.5) * row_height
        parts.append(words(f"{row}", LEFT - 8, middle + 0.35 * SMALL, "end", size=SMALL))
    for bar in bars:
        parts += _bar(bar, time, row_height)
    parts.append(element("path", d=f"M{LEFT:.1f} {bottom:.1f}H{WIDTH - RIGHT:.1f}", stroke=QUIET))
    parts.append(words(time_title, (LEFT + WIDTH - RIGHT) / 2, bottom + 38, "middle", TEXT))
    description = f"{title}: {len(bars)} tasks in {rows} rows over {time_title}."
    return picture(WIDTH, bottom + BOTTOM, description, title, parts)


def _named(rows: int, row_height: float) -> list[int]:
    """Every row where there is room, or every eighth."""
    return list(range(1, rows + 1)) if row_height >= SMALL else [1, *range(8, rows + 1, 8)]


def _bar(bar: Bar, time: Axis, row_height: float) -> Iterator[Markup]:
    top, height = TOP + bar.row * row_height + 0.08 * row_height, 0.84 * row_height
    left, ready, right = (_across(time, value) for value in (bar.begin, bar.ready, bar.end))
    yield element(
        "rect",
        element("title", bar.note),
        x=round(left, 1),
        y=round(top, 1),
        width=round(max(right - left - 0.6, 0.6), 1),
        height=round(height, 1),
        fill=LIGHT[bar.kind % len(LIGHT)],
    )
    if ready - left > 0.3:
        yield element(
            "rect",
            x=round(left, 1),
            y=round(top, 1),
            width=round(ready - left, 1),
            height=round(height, 1),
            fill=GROUND,
            fill_opacity=0.6,
        )


def _legend(kinds: Sequence[tuple[int, str]]) -> Iterator[Markup]:
    left = LEFT
    for index, name in kinds:
        yield element("rect", x=round(left, 1), y=44, width=12, height=12, fill=LIGHT[index % len(LIGHT)])
        yield words(name, left + 18, 54, "start", TEXT)
        left += 18 + 12 * LETTER * len(name) + 16


def _across(time: Axis, value: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * time.share(value)
