"""What every drawn figure is made of: its colours, its ground, its heading and its words.

A picture brings its own colours and its own ground, so that it looks the same in a page, in a paper and opened by itself.
"""

from collections.abc import Sequence

from superfed.report.holdings_draw import Box
from superfed.report.markup import Markup, element

GROUND, TEXT, QUIET, RULE = "#ffffff", "#1b1f24", "#5b6470", "#d9dde3"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
SIZE = 12.0
LETTER = 0.6
"""About the width of a letter, in a broad font, as a share of its size."""


def picture(width: float, height: float, description: str, title: str, parts: Sequence[Markup]) -> Markup:
    ground = element("rect", width=width, height=height, fill=GROUND)
    heading = words(title, 16, 24, "start", TEXT, 15, font_weight="600")
    return element(
        "svg",
        ground,
        heading,
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        aria_label=description,
        font_family=FONT,
    )


def rectangle(box: Box, **attributes: str | float | None) -> Markup:
    return element(
        "rect",
        x=rounded(box.left),
        y=rounded(box.top),
        width=rounded(box.width),
        height=rounded(box.height),
        **attributes,
    )


def words(
    text: str, x: float, y: float, anchor: str, fill: str = QUIET, size: float = SIZE, **attributes: str | float | None
) -> Markup:
    return element(
        "text", text, x=rounded(x), y=rounded(y), text_anchor=anchor, fill=fill, font_size=size, **attributes
    )


def rounded(value: float) -> float:
    return round(value, 1)
