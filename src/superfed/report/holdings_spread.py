"""Very many clients at a glance: their sizes in order, and how many have which size and how many classes."""

from collections.abc import Callable, Sequence

import numpy as np

from superfed.report.holdings_draw import (
    Box,
    Piece,
    from_zero,
    labels_below,
    rect,
    short,
    stacked,
    upright,
)
from superfed.report.holdings_view import Bin, IntArray, View, binned, evenly
from superfed.report.markup import Markup, element, join
from superfed.report.svg import Size, text

_TITLE = 34.0
_PLOT = 150.0
_BELOW = 46.0
_MOST_BINS = 12
_MOST_POINTS = 200


def spread(view: View, size: Size) -> Piece:
    """Three charts, beside each other where there is room."""
    sizes = view.counted.counts.sum(axis=1)
    classes = (view.counted.counts > 0).sum(axis=1)
    draw: list[Callable[[Box], list[Markup]]] = [
        lambda box: _sorted_sizes(sizes, box),
        lambda box: _histogram(binned(sizes, _MOST_BINS), "samples", box),
        lambda box: _histogram(_by_number(classes, view.num_classes), "classes", box),
    ]
    if not size.direct:
        return stacked([_one(one, 0, size.width) for one in draw])
    width = size.width / len(draw)
    parts = [_one(one, place * width, (place + 1) * width) for place, one in enumerate(draw)]
    return Piece(parts[0].height, join([part.markup for part in parts]))


def _by_number(classes: IntArray, num_classes: int) -> list[Bin]:
    """A bar for each number of classes that a client may hold, unless there are too many."""
    if num_classes > 2 * _MOST_BINS:
        return binned(classes, 2 * _MOST_BINS)
    clients = np.bincount(classes, minlength=num_classes + 1).tolist()
    return [Bin(number, number, clients[number]) for number in range(1, num_classes + 1)]


def _one(draw: Callable[[Box], list[Markup]], left: float, right: float) -> Piece:
    box = Box(left + 52, _TITLE, right - 14, _TITLE + _PLOT)
    return Piece(box.bottom + _BELOW, join(draw(box)))


def _titled(box: Box, above: str, below: str) -> list[Markup]:
    return [
        text(above, box.left - 44, box.top - 16, "start", "title"),
        text(below, (box.left + box.right) / 2, box.bottom + 40, "middle", "title"),
    ]


def _sorted_sizes(sizes: IntArray, box: Box) -> list[Markup]:
    """From who holds most to who holds least."""
    falling = np.sort(sizes)[::-1]
    axis = from_zero(int(falling[0]))
    ranks = evenly(len(falling), _MOST_POINTS)

    def down(size: float) -> float:
        return box.bottom - box.height * axis.share(size)

    def across(rank: float) -> float:
        return box.left + box.width * rank / len(falling)

    steps = "".join(f"V{down(falling[r]):.1f}H{across(r + 1):.1f}" for r in ranks.tolist())
    parts = [*upright(box, axis), *_titled(box, "samples", "clients, largest first")]
    parts.append(element("path", d=f"M{box.left:.1f} {box.bottom:.1f}{steps}V{box.bottom:.1f}Z", class_="area"))
    starts = [across(r) for r in ranks.tolist()]
    for rank, left, right in zip(ranks.tolist(), starts, [*starts[1:], box.right], strict=True):
        note = element("title", f"number {rank + 1:,} of {len(falling):,}: {falling[rank]:,} samples")
        parts.append(rect(left, box.top, right, box.bottom, "hover", note))
    marks = [tick for tick in from_zero(len(falling)).ticks if tick <= len(falling)]
    return parts + labels_below([(across(tick), short(tick)) for tick in marks], box.bottom + 19)


def _histogram(bins: Sequence[Bin], what: str, box: Box) -> list[Markup]:
    """A bar for each bin; where one bin is several numbers, they are named at its edges."""
    axis = from_zero(max(one.clients for one in bins))
    step = min(box.width / len(bins), 60.0)
    parts = [*upright(box, axis), *_titled(box, "clients", f"{what} a client")]
    for place, one in enumerate(bins):
        left, right = box.left + step * place, box.left + step * (place + 1)
        top = box.bottom - box.height * axis.share(one.clients)
        note = f"{one.label} {what}: {one.clients:,} clients"
        parts.append(rect(left + step * 0.06, top, right - step * 0.06, box.bottom, "bar", element("title", note)))
    if all(one.low == one.high for one in bins):
        places = [(box.left + step * (place + 0.5), short(one.low)) for place, one in enumerate(bins)]
    else:
        edges = [*(one.low for one in bins), bins[-1].high + 1]
        places = [(box.left + step * place, short(edge)) for place, edge in enumerate(edges)]
    return parts + labels_below(places, box.bottom + 19)
