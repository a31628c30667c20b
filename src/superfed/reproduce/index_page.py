"""The page that leads to all others, made from those that lie in a folder: they may be of many commands."""

import re
from html import unescape
from pathlib import Path

from superfed.report.document import document
from superfed.report.markup import Markup, element
from superfed.reproduce.cells import TARGETS
from superfed.reproduce.page import TITLE
from superfed.reproduce.scales import IN_WORDS, Scale
from superfed.reproduce.targets import title_of

DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)">')


def index_page(folder: Path, scale: Scale) -> str | None:
    """It leads to every page in ``folder`` and says how far each has come; None where there is none."""
    pages = {target: path for target in TARGETS if (path := folder / f"{target}.html").is_file()}
    if not pages:
        return None
    items = [element("li", *_entry(title_of(target), path)) for target, path in pages.items()]
    lead = element("p", f"Scale {scale}: {IN_WORDS[scale]}.", class_="lead")
    return document(TITLE, TITLE, [lead, element("ul", *items)])


def _entry(title: str, path: Path) -> list[Markup]:
    """A page of an older program does not say how far it has come."""
    found = DESCRIPTION.search(path.read_text(encoding="utf-8", errors="replace"))
    state = [] if found is None else [element("p", unescape(found[1]), class_="note")]
    return [element("a", title, href=path.name), *state]
