"""Tables of the paper beside ours, as one HTML file."""

from collections.abc import Mapping, Sequence

from superfed.report.document import document
from superfed.report.markup import Markup, element
from superfed.report.style import STYLE
from superfed.report.tables import heading, table
from superfed.reproduce.compare import Line
from superfed.reproduce.words import HEADINGS, METRICS, cells_of, counts, explanation, group_title, grouped, notes

COLOURS = " td.agrees { color: #1a7f37; } td.higher { color: #0a6ebd; } td.lower { color: #b35900; } td.quiet { opacity: .6; }"


def page(tables: Mapping[str, Sequence[Line]]) -> str:
    """The page; ``tables`` are by title."""
    content = [part for title, lines in tables.items() for part in _section(title, lines)]
    return document("The paper beside ours", "The paper beside ours", content, style=STYLE + COLOURS)


def _section(title: str, lines: Sequence[Line]) -> list[Markup]:
    parts = [element("h2", title), element("p", counts(lines))]
    for group in grouped(lines):
        metric = METRICS.get(group[0].metric, group[0].metric)
        body = [element("tr", *_cells(line)) for line in group]
        parts.append(table(f"{group_title(group)} ({metric})", [heading(words) for words in HEADINGS], body))
    return parts + [element("p", sentence, class_="note") for sentence in [*explanation(lines), *notes(lines)]]


def _cells(line: Line) -> list[Markup]:
    method, *numbers, word = cells_of(line)
    said = None if line.verdict is None else line.verdict.sentence()
    return [
        element("th", method, scope="row"),
        *(element("td", number) for number in numbers),
        element("td", word, class_=word if word in ("agrees", "higher", "lower") else "quiet", title=said),
    ]
