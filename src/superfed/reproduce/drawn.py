"""A figure, whichever it is: pictures, the same in numbers, what is to be said of it, and its data."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from superfed.report.markup import Markup


@dataclass(frozen=True)
class Picture:
    name: str
    """Its file's, without an ending."""
    words: str
    """What it shows, for who cannot see it."""
    svg: Markup


@dataclass(frozen=True)
class Row:
    """Of a figure's numbers."""

    cell: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    heading: str
    """Empty where a figure has one part only."""
    remarks: tuple[str, ...]
    """What is to be said before its numbers; several are a list."""
    pictures: tuple[tuple[Picture, ...], ...]
    """By row and column."""
    headings: tuple[str, ...]
    rows: tuple[Row, ...]
    unrun: tuple[str, ...] = ()
    """Cells that would have rows if they were run."""


@dataclass(frozen=True)
class Drawn:
    sections: tuple[Section, ...]
    sentences: tuple[str, ...]
    """What was read how."""
    data: Mapping[str, str] = field(default_factory=dict)
    """What is drawn, as files of comma-separated values, by name."""

    @property
    def pictures(self) -> list[Picture]:
        return [picture for section in self.sections for row in section.pictures for picture in row]


def narrowed(drawn: Drawn, cells: Collection[str] | None) -> Drawn:
    """Its parts that have numbers of these cells, and of those no others; all of it without ``cells``."""
    if cells is None:
        return drawn
    some = [
        replace(section, rows=tuple(row for row in section.rows if row.cell in cells))
        for section in drawn.sections
        if any(cell in cells for cell in (*section.unrun, *(row.cell for row in section.rows)))
    ]
    return replace(drawn, sections=tuple(some))


NOT_RUN = Drawn((), ("None of it has been run.",))
