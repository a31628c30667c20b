"""What lies on a plane of models, however it is seen: spots with their names, λ-lines between them, the legend of heights."""

import math
from collections.abc import Iterator, Sequence

from superfed.report.figure_parts import GROUND, LETTER, QUIET, SIZE, TEXT, rectangle, rounded, words
from superfed.report.holdings_draw import Box
from superfed.report.isolines import Place
from superfed.report.markup import Markup, element
from superfed.report.terrain import Scale, Terrain

HALF = "λ = 0.5"


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
    return element(
        "circle", element("title", HALF), cx=rounded(place[0]), cy=rounded(place[1]), r=3, fill=GROUND, stroke=TEXT
    )


def legend(scale: Scale, quantity: str, left: float, top: float, bottom: float) -> Iterator[Markup]:
    """The bands one on another, with the levels between them."""
    yield words(scale.name(quantity), left - 2, top - 10, "start", TEXT)
    colours = scale.colours
    step = (bottom - top) / len(colours)
    for i, colour in enumerate(colours):
        yield element(
            "rect", x=rounded(left), y=rounded(bottom - (i + 1) * step), width=15, height=rounded(step), fill=colour
        )
    yield element(
        "rect", x=rounded(left), y=rounded(top), width=15, height=rounded(bottom - top), fill="none", stroke=QUIET
    )
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
    yield rectangle(
        box,
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
            if holds(inside, tag_box(text, middle, size)):
                possible.append(middle)
    free = [m for m in possible if not any(touch(tag_box(text, m, size), other) for other in taken)]
    if free or possible:
        return (free or possible)[0]
    return (inside.left + inside.right) / 2, min(max(spot[1], inside.top + 9), inside.bottom - 9)


def names(
    spots: Sequence[tuple[str, Place]], middles: Sequence[Place], inside: Box, taken: list[Box]
) -> Iterator[Markup]:
    """Those of spots and of the λ-lines' middles, each where it covers nothing; ``taken`` grows by what they take."""
    named = [(text, place, SIZE, "600") for text, place in spots]
    for text, place, size, weight in [*named, *((HALF, middle, 10.5, None) for middle in middles)]:
        middle = free_place(text, place, inside, taken, size)
        taken.append(tag_box(text, middle, size))
        yield from tie(place, taken[-1])
        yield from tag(text, middle, size, weight)


def tie(spot: Place, box: Box) -> Iterator[Markup]:
    """A hair from a spot to its name, where they are apart."""
    x, y = min(max(spot[0], box.left), box.right), min(max(spot[1], box.top), box.bottom)
    if math.hypot(x - spot[0], y - spot[1]) > 16:
        yield element("path", d=f"M{spot[0]:.1f} {spot[1]:.1f}L{x:.1f} {y:.1f}", stroke=TEXT, stroke_width=0.9)


def note(terrain: Terrain, index: int) -> str:
    spot = terrain.spots[index]
    return f"{spot.name}: {terrain.quantity} {spot.value:.4g}"


def along(a: Place, b: Place, share: float) -> Place:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


def box_around(middle: Place, width: float, height: float) -> Box:
    x, y = middle
    return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def touch(a: Box, b: Box) -> bool:
    return a.left < b.right and b.left < a.right and a.top < b.bottom and b.top < a.bottom


def holds(outer: Box, inner: Box) -> bool:
    return (
        outer.left <= inner.left
        and inner.right <= outer.right
        and outer.top <= inner.top
        and inner.bottom <= outer.bottom
    )
