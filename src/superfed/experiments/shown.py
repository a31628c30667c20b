"""How runs and their clients look in a notebook, and at a prompt: a few facts, in which names are only text."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from superfed.report.markup import Markup, element

Fact = tuple[str, str]


class Printer(Protocol):
    """What IPython hands out to print with."""

    def text(self, text: str) -> None: ...


class Shown(ABC):
    """Something that can be told in a heading and a few facts."""

    @abstractmethod
    def _heading(self) -> str: ...

    @abstractmethod
    def _facts(self) -> Sequence[Fact]: ...

    def _more(self) -> Markup:
        """What only a page shows."""
        return Markup()

    def __repr__(self) -> str:
        return "; ".join([self._heading(), *(f"{name} {value}" for name, value in self._facts())])

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        printer.text(repr(self))

    def _repr_html_(self) -> str:
        rows = [element("tr", element("th", name), element("td", value)) for name, value in self._facts()]
        return element("div", element("p", element("strong", self._heading())), element("table", *rows), self._more())


def rows_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """A plain table."""
    heading = element("tr", *(element("th", words) for words in head))
    body = [element("tr", *(element("td", cell) for cell in row)) for row in rows]
    return element("table", element("thead", heading), element("tbody", *body))
