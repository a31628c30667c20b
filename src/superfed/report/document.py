"""An HTML file with everything in it: what every page of the program is wrapped in."""

from collections.abc import Iterable

from superfed.report.markup import Markup, element
from superfed.report.style import STYLE

# Even if something slipped through, a browser would neither run nor fetch it.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def document(title: str, heading: str, content: Iterable[Markup], style: str = STYLE) -> str:
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(style)),
    )
    main = element("main", element("h1", heading), *content)
    return f"<!DOCTYPE html>\n{element('html', head, element('body', main), lang='en')}\n"
