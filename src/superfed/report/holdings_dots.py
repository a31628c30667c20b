"""The picture that papers on federated learning open with: clients across, classes down, a dot for what is held."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from superfed.report.holdings_draw import (
    GAP,
    Box,
    Piece,
    from_zero,
    labels_below,
    rect,
    short,
    upright,
)
from superfed.report.holdings_view import LEFT_OUT, PARTS, IntArray, View, grouped, round_numbers, shortened
from superfed.report.markup import Markup, element, join
from superfed.report.svg import CHARACTER, Size, text

_SMALLEST_CELL = 12.0
_WIDEST_CELL = 60.0
_TALLEST_CELL = 26.0
_MOST_CLASSES = 100
_BARS = 72.0
_TOTALS = 120.0
_LONGEST_CLASS = 14
_LONGEST_CLIENT = 16
_LINE = 15.0


def dots(view: View, size: Size) -> Piece:
    """Clients one by one: a bar for how much each holds, and below it a dot for each class, its area the number."""
    frame = _Frame(view, size)
    parts: list[Markup] = []
    top = 0.0
    for first in range(0, len(frame.names), frame.a_panel):
        panel = _Panel(frame, slice(first, first + frame.a_panel), top)
        parts += [*panel.bars(), *panel.dots()]
        if frame.totals:
            parts += panel.totals()
        top = panel.end + GAP
    top += _LINE
    parts.append(text("client", frame.left + frame.across / 2, top, "middle", "title"))
    legend = _legend(frame, top + 1.6 * _LINE)
    return Piece(legend.height, join([*parts, legend.markup]))


class _Frame:
    """What all panels share: clients that do not fit beside each other go into another panel below."""

    def __init__(self, view: View, size: Size) -> None:
        self.view, self.size = view, size
        self.counts, self.spans = grouped(view.shown.counts, _MOST_CLASSES)
        self.sizes = view.shown.counts.sum(axis=1)
        self.names = [view.client_name(row) for row in range(len(self.sizes))]
        self.classes = [_span(view, *span) for span in self.spans]
        longest = max(len(shortened(name, _LONGEST_CLASS)) for name in self.classes)
        self.left = max(52.0, 12 + longest * CHARACTER)
        self.totals = size.direct and len(self.names) * _SMALLEST_CELL <= size.width - self.left - _TOTALS
        room = size.width - self.left - (_TOTALS if self.totals else 14)
        panels = math.ceil(len(self.names) / max(1, room // _SMALLEST_CELL))
        self.a_panel = math.ceil(len(self.names) / panels)
        self.cell = min(_WIDEST_CELL, room / self.a_panel)
        self.across = self.cell * self.a_panel
        self.tall = min(_TALLEST_CELL, max(9.0, 560 / len(self.spans)))
        self.largest = int(self.counts.max())
        self.axis = from_zero(int(self.sizes.max()))

    def radius(self, count: float) -> float:
        """So that areas are to each other as numbers are; a single sample can still be seen."""
        return max(0.7, (min(self.cell, self.tall) / 2 - 0.5) * math.sqrt(count / self.largest))


@dataclass(frozen=True)
class _Panel:
    frame: _Frame
    clients: slice
    top: float

    @property
    def _rows(self) -> list[int]:
        return list(range(len(self.frame.names)))[self.clients]

    @property
    def _upper(self) -> Box:
        return Box(self.frame.left, self.top + 2.2 * _LINE, self._right, self.top + 2.2 * _LINE + _BARS)

    @property
    def _lower(self) -> Box:
        top = self._upper.bottom + 1.9 * _LINE
        return Box(self.frame.left, top, self._right, top + self.frame.tall * len(self.frame.spans))

    @property
    def _right(self) -> float:
        return self.frame.left + self.frame.cell * len(self._rows)

    @property
    def end(self) -> float:
        return self._lower.bottom + (self._turned * CHARACTER * 1.15 if self._turned else _LINE + 4)

    @property
    def _turned(self) -> int:
        """The length of names that have no room to lie and are turned upright; 0 if they lie."""
        longest = max(len(shortened(self.frame.names[row], _LONGEST_CLIENT)) for row in self._rows)
        named = self.frame.view.shown.names is not None
        return longest if named and longest * CHARACTER + GAP > self.frame.cell else 0

    def _middle(self, place: int) -> float:
        return self.frame.left + self.frame.cell * (place + 0.5)

    def bars(self) -> list[Markup]:
        box, frame = self._upper, self.frame
        parts = [text("samples", 0, self.top + _LINE, "start", "title"), *upright(box, frame.axis)]
        half = frame.cell * 0.36
        for place, row in enumerate(self._rows):
            middle, below = self._middle(place), 0
            stack = []
            for part, amount in enumerate(_stack(frame.view, row)):
                low, high = (box.bottom - box.height * frame.axis.share(v) for v in (below, below + amount))
                below += amount
                if amount:
                    stack.append(rect(middle - half, high, middle + half, low, f"part{part}"))
            parts.append(element("g", element("title", _told(frame, row)), *stack, class_="column"))
        return parts

    def dots(self) -> list[Markup]:
        box, frame = self._lower, self.frame
        parts = [text("class", 0, box.top - 9, "start", "title")]
        every = math.ceil(13 / frame.tall)
        for place, name in enumerate(frame.classes):
            y = box.top + frame.tall * (place + 0.5)
            parts.append(element("path", d=f"M{box.left:.1f} {y:.1f}H{box.right:.1f}", class_="grid"))
            if place % every == 0:
                parts.append(text(shortened(name, _LONGEST_CLASS), box.left - GAP, y + 4, "end"))
        for place, row in enumerate(self._rows):
            for label, count in enumerate(frame.counts[row].tolist()):
                if count:
                    note = (
                        f"client {frame.names[row]}, {_class(frame, label)}: {count:,} of {frame.sizes[row]:,} samples"
                    )
                    y = box.top + frame.tall * (label + 0.5)
                    parts.append(_dot(self._middle(place), y, frame.radius(count), note))
        return [*parts, *self._names(box.bottom)]

    def _names(self, y: float) -> list[Markup]:
        places = [(self._middle(place), self.frame.names[row]) for place, row in enumerate(self._rows)]
        if not self._turned:
            return labels_below(places, y + _LINE)
        every = math.ceil(_LINE / self.frame.cell - 0.2)
        return [
            element(
                "text",
                shortened(name, _LONGEST_CLIENT),
                x=round(x + 4, 1),
                y=round(y + 6, 1),
                text_anchor="end",
                transform=f"rotate(-90 {x + 4:.1f} {y + 6:.1f})",
            )
            for x, name in places[::every]
        ]

    def totals(self) -> list[Markup]:
        """What the clients hold together of each class, at the right."""
        box, frame = self._lower, self.frame
        left = box.right + 14
        parts = [text("together", left, box.top - 9, "start", "title")]
        sums = frame.counts.sum(axis=0)
        longest = max(len(short(n)) for n in sums.tolist())
        room = _TOTALS - 20 - longest * CHARACTER
        for label, total in enumerate(sums.tolist()):
            y = box.top + frame.tall * (label + 0.5)
            right = left + room * total / sums.max()
            note = f"{_class(frame, label)}: {total:,} samples, with {int((frame.counts[:, label] > 0).sum())} clients"
            parts.append(rect(left, y - frame.tall * 0.36, right, y + frame.tall * 0.36, "bar", element("title", note)))
            if frame.tall >= 13:
                parts.append(text(short(total), right + 5, y + 4, "start"))
        return parts


def _dot(x: float, y: float, radius: float, note: str = "") -> Markup:
    inside = [element("title", note)] if note else []
    return element("circle", *inside, cx=round(x, 1), cy=round(y, 1), r=round(radius, 2), class_="dot")


def _legend(frame: _Frame, top: float) -> Piece:
    """What a dot's area and a bar's shades say, in as many lines as it takes."""
    known = [number for number in round_numbers(frame.largest) if number <= frame.largest]
    entries = []
    for number in known[::-2][2::-1] if len(known) > 4 else known[-3:]:
        radius = frame.radius(number)
        entries.append((_many_samples(number), _dot(radius, -4.5, radius), 2 * radius))
    has = [bool(amount) for amount in _stack(frame.view).tolist()]
    for part, words in enumerate((*PARTS, LEFT_OUT)):
        if has[part]:
            entries.append((words, rect(0, -10.5, 12, 1.5, f"part{part}"), 12.0))
    parts, x = [], 0.0
    for words, mark, room in entries:
        width = room + 6 + len(words) * CHARACTER + 2 * GAP
        if x and x + width > frame.size.width - frame.left:
            x, top = 0.0, top + 1.8 * _LINE
        at = f"translate({frame.left + x:.1f} {top:.1f})"
        parts.append(element("g", mark, text(words, room + 6, 0, "start"), transform=at))
        x += width
    return Piece(top + 12, join(parts))


def _stack(view: View, row: int | None = None) -> IntArray:
    """Training, validation and test samples and those left out, of one client or of all shown."""
    rows: Sequence[int] | slice = slice(None) if row is None else [row]
    parts = view.shown.parts[rows].sum(axis=0)
    return np.append(parts, view.shown.counts[rows].sum() - parts.sum())


def _told(frame: _Frame, row: int) -> str:
    amounts = zip(_stack(frame.view, row).tolist(), (*PARTS, LEFT_OUT), strict=True)
    parts = ", ".join(f"{amount:,} {part}" for amount, part in amounts if amount)
    held = int((frame.view.shown.counts[row] > 0).sum())
    return f"client {frame.names[row]}: {frame.sizes[row]:,} samples ({parts}) of {held} classes"


def _many_samples(number: int) -> str:
    return f"{number:,} sample" + ("" if number == 1 else "s")


def _class(frame: _Frame, place: int) -> str:
    first, last = frame.spans[place]
    return f"class{'es' if last > first else ''} {frame.classes[place]}"


def _span(view: View, first: int, last: int) -> str:
    return view.class_name(first) if first == last else f"{first}–{last}"
