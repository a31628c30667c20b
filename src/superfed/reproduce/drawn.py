"""A figure, whichever it is: pictures, the same in numbers, what is to be said of it, and its data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

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


NOT_RUN = Drawn((), ("None of it has been run.",))
