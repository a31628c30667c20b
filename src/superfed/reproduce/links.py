"""From numbers to the runs behind them, on a page that lies where the runs do."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from superfed.report.markup import Markup, element
from superfed.report.tables import definitions, heading, table
from superfed.reproduce.provenance import PLACES, Made, facts, place_cells, places
from superfed.reproduce.record import Record, Records

RUNS = "runs, by seed"
"""The column of links to a line's runs, by their seeds."""


@dataclass(frozen=True)
class Runs:
    """Behind a page's numbers."""

    records: Records
    here: bool = True
    """Whether their folders lie beside the page, or small files are all that is kept of them."""

    def columns(self) -> list[str]:
        return [RUNS] if self.records else []

    def cells(self, cell: str) -> list[Markup]:
        """The folder of each seed's run, in a table with these columns."""
        if not self.records:
            return []
        of_seeds = self.records.get(cell, ())
        seeds = [self._to(one.made, f"{one.seed}", title=_hint(one.made)) for one in of_seeds]
        return [element("td", *(part for seed in seeds for part in (seed, " ")))]

    def how_made(self) -> list[Markup]:
        """Folded away: where the runs were computed, and each run by itself."""
        if not self.records:
            return []
        runs = {record.made.folder: record for record in self._all()}
        rows = [
            element("tr", *(element("td", words, class_="words") for words in place_cells(p)))
            for p in places(r.made for r in runs.values())
        ]
        parts = [table("Where the runs were computed.", [heading(words, "words") for words in PLACES], rows)]
        for folder, record in sorted(runs.items()):
            summary = element("summary", self._to(record.made, folder))
            parts.append(element("details", summary, definitions(facts(record.made), "facts")))
        return [element("details", element("summary", "How the runs were made"), *parts)]

    def _all(self) -> Sequence[Record]:
        return [record for of_seeds in self.records.values() for record in of_seeds]

    def _to(self, made: Made, words: str, **attributes: str) -> Markup:
        if not self.here:
            return element("span", words, **attributes)
        return element("a", words, href=f"{quote(made.folder)}/", **attributes)


def _hint(made: Made) -> str:
    return f"{made.folder}: {made.machine}; {made.software}"
