"""What a change of one setting does to methods, at the validated λ and at the oracle's."""

from dataclasses import dataclass
from functools import partial

from superfed.report.readings import HEADLINE
from superfed.reproduce.drawn import Section
from superfed.reproduce.questions.answer import answer
from superfed.reproduce.questions.column import Column, name
from superfed.reproduce.questions.difference import Difference, paired
from superfed.reproduce.questions.printed import nearer, printed


@dataclass(frozen=True)
class Changed:
    """``how`` is the end of the changed cells' setting; ``usual`` and ``other`` name both in the table."""

    title: str
    how: str
    usual: str
    other: str
    methods: tuple[str, ...]
    so: str
    """How the sentence about a method begins."""

    def section(self, column: Column) -> Section:
        headings = (f"{self.usual}, validated", self.other, "points", f"{self.usual}, oracle", self.other, "points")
        rows = [
            column.beside(method, self.how, partial(self._less, column, method), printed(column, method))
            for method in self.methods
        ]
        clauses = [self._clause(column, method) for method in self.methods]
        return Section(self.title, answer(clauses), (), ("", *headings, "published"), tuple(rows))

    def _clause(self, column: Column, method: str) -> str | None:
        honest, oracle = (self._less(column, method, reading) for reading in (HEADLINE, "oracle"))
        if honest is None or oracle is None:
            return None
        beside = f", {honest.further} at the validated one" if oracle.points != honest.points else ""
        change = f"{self.so}, {name(method)} is {oracle.verdict}: {oracle.words} at the oracle's λ{beside}"
        return change + nearer(column, method, self.how) + self._trouble(column, method)

    def _trouble(self, column: Column, method: str) -> str:
        """A run that blew up says little of what was changed."""
        told = {self.usual: column.unstable(method), self.other: column.unstable(method, self.how)}
        return "".join(f"; but with {which} {what}" for which, what in told.items() if what)

    def _less(self, column: Column, method: str, reading: str) -> Difference | None:
        """The changed less the other, over the same clients."""
        return paired(column.members(method, reading, self.how), column.members(method, reading))
