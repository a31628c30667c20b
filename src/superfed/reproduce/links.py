"""From numbers to the runs behind them, on a page that lies where the runs do."""

from collections.abc import Iterable, Sequence
from urllib.parse import quote

from superfed.report.markup import Markup, element
from superfed.report.tables import definitions, heading, table
from superfed.reproduce.provenance import PLACES, Made, facts, place_cells, places
from superfed.reproduce.record import Record


def run_links(records: Sequence[Record]) -> Markup:
    """A cell of a table with a link to the folder of each seed's run."""
    links = [element("a", f"{one.seed}", href=f"{quote(one.made.folder)}/", title=_hint(one.made)) for one in records]
    return element("td", *(part for link in links for part in (link, " ")))


def how_made(records: Iterable[Record]) -> Markup:
    """Folded away: where the runs were computed, and each run by itself."""
    runs = {record.made.folder: record for record in records}
    rows = [
        element("tr", *(element("td", words, class_="words") for words in place_cells(p)))
        for p in places(r.made for r in runs.values())
    ]
    parts = [table("Where the runs were computed.", [heading(words, "words") for words in PLACES], rows)]
    for folder, record in sorted(runs.items()):
        link = element("a", folder, href=f"{quote(folder)}/")
        parts.append(element("details", element("summary", link), definitions(facts(record.made), "facts")))
    return element("details", element("summary", "How the runs were made"), *parts)


def _hint(made: Made) -> str:
    return f"{made.folder}: {made.machine}; {made.software}"
