"""Tables and figures of the paper beside ours, and what it leaves open, as HTML files."""

from collections.abc import Mapping, Sequence

from superfed.report.document import document
from superfed.report.markup import Markup, element
from superfed.report.style import STYLE
from superfed.report.tables import heading, table
from superfed.reproduce.aside import Aside
from superfed.reproduce.below import below
from superfed.reproduce.compare import Line, compare
from superfed.reproduce.drawn import Drawn, Section
from superfed.reproduce.links import Runs
from superfed.reproduce.words import cells_of, counts, group_heading, headings, laid_out

TITLE = "The paper beside ours"
INDEX = "index.html"
"""The page beside this one that leads to all."""
COLOURS = " td.agrees { color: #1a7f37; } td.higher { color: #0a6ebd; } td.lower { color: #b35900; } td.quiet { opacity: .6; }"
WIDE = """
body { max-width: 100rem; }
.pictures { display: grid; gap: 1rem; margin: 1rem 0; }
.pictures svg { width: 100%; height: auto; border-radius: .4rem; }
@media (min-width: 60rem) { .pictures.many { grid-template-columns: repeat(3, 1fr); } .pictures.one { max-width: 62rem; } }
"""


def page(tables: Mapping[str, Sequence[Line]], runs: Runs) -> str:
    """Tables by their titles; the lines lead to their runs."""
    content = [part for title, lines in tables.items() for part in _tables(title, lines, runs)]
    state = "; ".join(_counts(lines) for lines in tables.values())
    return _document(", ".join(tables), content, COLOURS, state)


def figure_page(title: str, drawn: Drawn, runs: Runs, state: str) -> str:
    """``state`` is how far it has come."""
    content = [element("h2", title)]
    for section in drawn.sections:
        content += _section(section, runs)
    content += [element("p", words, class_="note") for words in drawn.sentences]
    return _document(title, [*content, *runs.how_made()], WIDE, state)


def _document(title: str, content: Sequence[Markup], style: str, state: str) -> str:
    """With the way to all others on top."""
    others = element("p", element("a", "All tables and figures", href=INDEX))
    return document(f"{title} – {TITLE}", TITLE, [others, *content], style=STYLE + style, description=state)


def _tables(title: str, lines: Sequence[Line], runs: Runs) -> list[Markup]:
    parts = [element("h2", title), element("p", _counts(lines))]
    there, sentences = laid_out(lines)
    for group in there:
        columns = [heading(words) for words in (*headings(group), *runs.columns())]
        body = [element("tr", *_cells(line, group), *runs.cells(line.cell)) for line in group]
        parts.append(table(group_heading(group), columns, body))
    parts += [element("p", words, class_="note") for words in sentences]
    parts += [part for aside in below(lines) for part in _aside(aside)]
    return [*parts, *runs.how_made()]


def _counts(lines: Sequence[Line]) -> str:
    """Of all that their table prints."""
    return counts(lines, len(compare(lines[0].table, {})))


def _aside(aside: Aside) -> list[Markup]:
    rows = [
        element("tr", element("th", row[0], scope="row"), *(element("td", words) for words in row[1:]))
        for row in aside.rows
    ]
    columns = [heading(words) for words in aside.headings]
    return [table(aside.title, columns, rows), element("p", aside.sentence, class_="note")]


def _said(remarks: Sequence[str]) -> list[Markup]:
    """A list, if there are several."""
    if len(remarks) > 1:
        return [element("ul", *(element("li", remark) for remark in remarks))]
    return [element("p", remark) for remark in remarks]


def _section(section: Section, runs: Runs) -> list[Markup]:
    parts = [element("h3", section.heading)] if section.heading else []
    parts += _said(section.remarks)
    for row in section.pictures:
        kind = "pictures many" if len(row) > 1 else "pictures one"
        parts.append(element("div", *(picture.svg for picture in row), class_=kind))
    if not section.rows:
        return parts
    body = [
        element(
            "tr",
            element("th", row.words[0], scope="row"),
            *(element("td", words) for words in row.words[1:]),
            *runs.cells(row.cell),
        )
        for row in section.rows
    ]
    columns = [heading(words) for words in (*section.headings, *runs.columns())]
    caption = "The same in numbers" if section.pictures else "In numbers"
    return [*parts, table(caption, columns, body)]


def _cells(line: Line, together: Sequence[Line]) -> list[Markup]:
    method, *numbers, word = cells_of(line, together)
    said = None if line.verdict is None else line.verdict.sentence()
    return [
        element("th", method, scope="row"),
        *(element("td", number) for number in numbers),
        element("td", word, class_=word if word in ("agrees", "higher", "lower") else "quiet", title=said),
    ]
