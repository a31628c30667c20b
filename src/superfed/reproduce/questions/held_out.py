"""The published runs trained on all training samples, and ours keep some to choose λ on: what does that cost?"""

from superfed.reproduce import asked
from superfed.reproduce.asked import Sweep
from superfed.reproduce.drawn import Row, Section
from superfed.reproduce.questions.answer import answer
from superfed.reproduce.questions.column import Column, apart, name
from superfed.reproduce.questions.difference import Difference, paired
from superfed.reproduce.questions.printed import nearer, printed

TITLE = "What do the samples cost that are kept to choose λ on, and that the published runs trained on?"
READING = "oracle"
"""The only one for which no samples need be kept."""
HEADINGS = ("", "some kept, oracle", "all trained on, oracle", "points", "published")


def section(column: Column) -> Section:
    clauses = [_clause(column, method) for method in asked.WHOLE]
    return Section(TITLE, answer(clauses), (), HEADINGS, tuple(_row(column, method) for method in asked.WHOLE))


def _row(column: Column, method: str) -> Row:
    both = (column.reading(method, READING, how) for how in ("", Sweep.WHOLE))
    return column.row(method, Sweep.WHOLE, name(method), *both, apart(_more(column, method)), printed(column, method))


def _clause(column: Column, method: str) -> str | None:
    more = _more(column, method)
    if more is None:
        return None
    print_too = nearer(column, method, Sweep.WHOLE)
    return f"trained on all of them, {name(method)} is {more.verdict}: {more.words}{print_too}"


def _more(column: Column, method: str) -> Difference | None:
    """With all samples less with some, over the same clients and their same test samples."""
    return paired(column.members(method, READING, Sweep.WHOLE), column.members(method, READING))
