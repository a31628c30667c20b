"""Results on a page: the part of a Markdown file between two marks, and a picture for each result."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from superfed.bench.chart import chart
from superfed.bench.report import Report, Row
from superfed.bench.words import EXPLANATION, HEADINGS, by_network, cells, circumstances, machine, remarks
from superfed.core.errors import UserError
from superfed.store.files import write_text

BEGIN = "<!-- what follows is written by superfed bench --page -->"
END = "<!-- until here -->"


def write_page(page: Path, reports: Mapping[str, Report]) -> None:
    """Put the reports, by name, between the page's marks; a page that is not there is made."""
    before, after = _around(page)
    for name, report in reports.items():
        write_text(page.parent / _picture(page, name), chart(report))
    write_text(page, before + section(page, reports) + after)


def section(page: Path, reports: Mapping[str, Report]) -> str:
    """What stands between the marks, and they."""
    parts = [_one(name, report, _picture(page, name)) for name, report in reports.items()]
    return "\n\n".join([BEGIN, *parts, EXPLANATION, END])


def _one(name: str, report: Report, picture: Path) -> str:
    image = f"![The ratios as bars]({picture.as_posix()})"
    tables = [f"{network}\n\n{_table(rows)}" for network, rows in by_network(report).items()]
    listed = "\n".join(f"- {sentence}" for sentence in remarks(report))
    return "\n\n".join([f"## {machine(report)} ({name})", circumstances(report), image, *tables, listed])


def _table(rows: Sequence[Row]) -> str:
    lines = [HEADINGS, ["---", *["---:"] * (len(HEADINGS) - 1)], *map(cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _picture(page: Path, name: str) -> Path:
    """Seen from the page's folder."""
    return Path(page.stem) / f"{name}.svg"


def _around(page: Path) -> tuple[str, str]:
    if not page.exists():
        return "", "\n"
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise UserError(f"{page}: has no lines '{BEGIN}' and '{END}', between which results would go")
    return before, after
