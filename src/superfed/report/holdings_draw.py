"""Pieces of a picture, placed by hand: boxes with axes, bars, labels that do not touch."""

from collections.abc import Sequence
from dataclasses import dataclass

from superfed.report.markup import Markup, element, join
from superfed.report.scale import Axis, round_axis
from superfed.report.svg import CHARACTER, text

GAP = 8.0


@dataclass(frozen=True)
class Piece:
    """Something drawn from the top of the picture down to ``height``."""

    height: float
    markup: Markup


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top


def stacked(pieces: Sequence[Piece], gap: float = 24.0) -> Piece:
    """One below the other."""
    parts: list[Markup] = []
    height = 0.0
    for piece in pieces:
        height += gap if parts else 0
        parts.append(element("g", piece.markup, transform=f"translate(0 {height:g})"))
        height += piece.height
    return Piece(height, join(parts))


def from_zero(most: float, marks: int = 4) -> Axis:
    """For numbers of things: from 0, in whole steps."""
    return round_axis([0, most], limits=(0, float("inf")), marks=marks, smallest_step=1)


def upright(box: Box, axis: Axis) -> list[Markup]:
    """The axis on the left of a box, and its lines across."""
    parts = []
    for tick in axis.ticks:
        place = box.bottom - box.height * axis.share(tick)
        kind = "axis" if tick == 0 else "grid"
        parts.append(element("path", d=f"M{box.left:.1f} {place:.1f}H{box.right:.1f}", class_=kind))
        parts.append(text(short(tick), box.left - GAP, place + 4, "end"))
    return parts


def rect(left: float, top: float, right: float, bottom: float, class_: str, *inside: Markup) -> Markup:
    return element(
        "rect",
        *inside,
        x=round(left, 2),
        y=round(top, 2),
        width=round(max(right - left, 0), 2),
        height=round(max(bottom - top, 0), 2),
        class_=class_,
    )


def labels_below(labels: Sequence[tuple[float, str]], y: float) -> list[Markup]:
    """Labels centred at evenly spaced places: all, or every second, fifth and so on, so that none touch."""
    widest = max(len(words) for _, words in labels) * CHARACTER + GAP / 2
    apart = labels[1][0] - labels[0][0] if len(labels) > 1 else widest
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, len(labels)) if n * apart >= widest or n >= len(labels))
    return [text(words, place, y, "middle") for place, words in labels[::every]]


def short(number: float) -> str:
    """``1,500``, ``20k`` or ``1.5M``."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= 10 * size or (unit == "M" and number >= size):
            return f"{number / size:.3g}{unit}"
    return f"{number:,g}"
