"""The paper says that the rate falls by 1 % a round, and the published runs had a tenth of that: does it matter?"""

from functools import partial

from superfed.report.readings import HEADLINE
from superfed.reproduce import asked
from superfed.reproduce.drawn import Section
from superfed.reproduce.questions.answer import answer
from superfed.reproduce.questions.column import Column, name
from superfed.reproduce.questions.difference import Difference, paired
from superfed.reproduce.questions.printed import nearer, printed

TITLE = "Does it matter that the rate falls by 1 % a round in the paper's text and by 0.1 % in its runs?"
STEEP = "steep"
HEADINGS = ("", "0.1 %, validated", "1 %", "points", "0.1 %, oracle", "1 %", "points", "published")


def section(column: Column) -> Section:
    rows = [
        column.beside(method, STEEP, partial(_less, column, method), printed(column, method))
        for method in asked.STEEPER
    ]
    return Section(TITLE, answer([_clause(column, method) for method in asked.STEEPER]), (), HEADINGS, tuple(rows))


def _clause(column: Column, method: str) -> str | None:
    honest, oracle = (_less(column, method, reading) for reading in (HEADLINE, "oracle"))
    if honest is None or oracle is None:
        return None
    verdict = "not seen to be better or worse" if not oracle.seen else "better" if oracle.points > 0 else "worse"
    beside = f" and {honest.words} at the validated one" if oracle.points != honest.points else ""
    change = f"with 1 % {name(method)} is {verdict}, by {oracle.words} at the oracle's λ{beside}"
    return change + nearer(column, method, STEEP)


def _less(column: Column, method: str, reading: str) -> Difference | None:
    """The steep decay less the other, over the same clients."""
    return paired(column.members(method, reading, STEEP), column.members(method, reading))
