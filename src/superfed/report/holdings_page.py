"""Who holds what, as a page that opens anywhere and as a picture alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from superfed.report.document import document
from superfed.report.holdings_dots import dots
from superfed.report.holdings_draw import Piece, stacked
from superfed.report.holdings_spread import spread
from superfed.report.holdings_style import RULES, STYLE_ALONE
from superfed.report.holdings_view import PARTS, View, in_words
from superfed.report.markup import Markup, element
from superfed.report.style import STYLE
from superfed.report.svg import NARROW, WIDE, Size, text
from superfed.report.tables import definitions, heading, table

_MARGIN = 16.0


def page(name: str, views: Sequence[View]) -> str:
    """One HTML file with everything in it."""
    title = f"{name}: who holds what"
    return document(title, title, (part for view in views for part in section(view)), STYLE + RULES)


def picture(views: Sequence[View]) -> str:
    """One SVG file; where there are several ways of dealing, or not all clients are drawn, it says what is what."""
    sections = []
    for view in views:
        pieces = [_line(view.title, "heading")] if len(views) > 1 else []
        figures = _figures(view)
        for figure in figures:
            pieces += [_line(figure.who, "title")] if len(figures) > 1 else []
            pieces.append(figure.draw(view, WIDE))
        sections.append(stacked(pieces))
    whole = stacked(sections, gap=56.0)
    width, height = WIDE.width + 2 * _MARGIN, whole.height + 2 * _MARGIN
    return element(
        "svg",
        element("style", Markup(STYLE_ALONE)),
        element("rect", width=width, height=height, class_="ground"),
        element("g", whole.markup, transform=f"translate({_MARGIN:g} {_MARGIN:g})"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        aria_label=". ".join(f"{view.title}: {figure.words}" for view in views for figure in _figures(view)),
        class_="chart",
    )


@dataclass(frozen=True)
class _Figure:
    who: str
    says: str
    draw: Callable[[View, Size], Piece]

    @property
    def words(self) -> str:
        return f"{self.who}: {self.says}"


def _figures(view: View) -> list[_Figure]:
    shown = len(view.shown.clients)
    found = [
        _Figure(view.some(np.arange(shown)), "the area of a dot is how many samples of a class a client holds", dots)
    ]
    if shown < view.num_clients:
        found.append(_Figure(view.who.rstrip(","), "how many samples they hold, and of how many classes", spread))
    return found


def section(view: View, heading: str = "h2") -> list[Markup]:
    """What is said and drawn of one way of dealing."""
    words = {key: f"{said[0].upper()}{said[1:]}." for key, said in in_words(view).items()}
    parts = [element(heading, view.title), element("p", view.details, class_="note"), definitions(words, "facts")]
    for figure in _figures(view):
        charts = [_chart(view, figure, size) for size in (WIDE, NARROW)]
        parts.append(element("figure", *charts, element("figcaption", f"{figure.words}.")))
    return [*parts, element("details", element("summary", "The same in numbers"), _table(view))]


def _chart(view: View, figure: _Figure, size: Size) -> Markup:
    drawn = figure.draw(view, size)
    return element(
        "svg",
        drawn.markup,
        viewBox=f"0 0 {size.width:g} {drawn.height:g}",
        role="img",
        aria_label=f"{view.title}. {figure.words}.",
        class_=f"chart {size.kind}",
    )


def _line(words: str, kind: str) -> Piece:
    return Piece(18, text(words, 0, 14, "start", kind))


def _table(view: View) -> Markup:
    """The clients that are drawn, for those who cannot point at them."""
    held = view.shown
    body = []
    for row, (parts, counts) in enumerate(zip(held.parts.tolist(), held.counts, strict=True)):
        cells = [int(counts.sum()), *parts, int((counts > 0).sum())]
        name = element("th", view.client_name(row), scope="row")
        body.append(element("tr", name, *(element("td", f"{number:,}") for number in cells)))
    caption = f"{view.some(np.arange(len(held.clients)))}: samples, those for each part, and classes."
    return table(caption, [heading(words) for words in ("client", "samples", *PARTS, "classes")], body)
