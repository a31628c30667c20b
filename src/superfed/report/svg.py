"""What pictures are made of: lines with their points, sizes, and text."""

from collections.abc import Sequence
from dataclasses import dataclass

from superfed.report.markup import Markup, element

CHARACTER = 8.2  # about the width of one, at the size that labels are written in, where the font is a broad one


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
class Size:
    kind: str
    """Its CSS class: the page shows the chart that fits."""
    width: float
    height: float
    direct: bool
    """Whether lines are named at their right ends; where there is no room, a legend has to do."""


WIDE = Size("wide", 920, 430, direct=True)
NARROW = Size("narrow", 400, 330, direct=False)


def text(words: str, x: float, y: float, anchor: str, class_: str | None = None) -> Markup:
    return (
        element("text", words, x=round(x, 1), y=round(y, 1), text_anchor=anchor, class_=class_) if words else Markup()
    )
