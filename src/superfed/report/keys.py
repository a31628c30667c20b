"""How a method is known again all over the page: its name beside a sample of its colour."""

from collections.abc import Sequence

from superfed.report.comparison import Row
from superfed.report.markup import Markup, element
from superfed.report.style import NUM_COLOURS


def key(index: int) -> Markup:
    """A sample of the line that the method's curves are drawn with."""
    again = " again" if index >= NUM_COLOURS else ""
    line = element("path", d="M1 6H17", class_=f"stroke c{index % NUM_COLOURS}{again}")
    return element("svg", line, viewBox="0 0 18 12", class_="key", aria_hidden="true")


def method_cell(row: Row, index: int, notes: Sequence[str] = ()) -> Markup:
    small = [row.label, *notes] if row.label else notes
    return element("th", key(index), row.title, *(element("small", line) for line in small), scope="row")
