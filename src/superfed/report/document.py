"""An HTML file with everything in it: what every page of the program is wrapped in."""

import base64
import hashlib
from collections.abc import Iterable

from superfed.report.markup import Markup, element
from superfed.report.style import STYLE


def document(
    title: str,
    heading: str,
    content: Iterable[Markup],
    style: str = STYLE,
    script: str = "",
    *,
    live: bool = False,
    description: str | None = None,
) -> str:
    """The page. A ``live`` one may ask the server it came from for more; any other asks nobody for anything. The
    ``description`` is for whoever lists pages."""
    described = [] if description is None else [element("meta", name="description", content=description)]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(script, live=live)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        *described,
        element("style", Markup(style)),
    )
    main = element("main", element("h1", heading), *content)
    program = [element("script", Markup(script))] if script else []
    return f"<!DOCTYPE html>\n{element('html', head, element('body', main, *program), lang='en')}\n"


def policy(script: str = "", *, live: bool = False) -> str:
    """Even if something slipped through, a browser would neither run nor fetch it: but the page's own program, known by
    its hash, nothing runs."""
    parts = ["default-src 'none'", "style-src 'unsafe-inline'"]
    if script:
        parts.append(f"script-src 'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'")
    if live:
        parts.append("connect-src 'self'")
    return "; ".join([*parts, "base-uri 'none'", "form-action 'none'"])
