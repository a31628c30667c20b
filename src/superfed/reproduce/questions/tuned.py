"""What methods have if each client trains its models a little further in the end, and what one without personal models has."""

from superfed.report.readings import HEADLINE
from superfed.reproduce.asked import GLOBAL, TUNED, Sweep
from superfed.reproduce.compare import SHARED
from superfed.reproduce.drawn import Row, Section
from superfed.reproduce.methods import METHODS, MIXINGS
from superfed.reproduce.questions.answer import answer
from superfed.reproduce.questions.column import Column, apart, name
from superfed.reproduce.questions.difference import Difference, paired

TITLE = "Would it do to train the global model a little further in the end?"
READINGS = (HEADLINE, SHARED, "oracle")


def _title(method: str, how: str) -> str:
    return f"{name(method)}, tuned" if how else name(method)


STANDARD = _title(GLOBAL, Sweep.TUNED)
LESS = f"less {STANDARD}"
HEADINGS = ("", "validated", LESS, "validated shared", LESS, "oracle", LESS)


def section(column: Column) -> Section:
    tuned, plain = ((method, Sweep.TUNED) for method in TUNED), ((method, "") for method in METHODS)
    rows = [_row(column, method, how) for method, how in (*tuned, *plain)]
    clauses = [_of(column, method, how) for how in ("", Sweep.TUNED) for method in MIXINGS]
    return Section(TITLE, answer(clauses), (), HEADINGS, tuple(rows))


def _row(column: Column, method: str, how: str) -> Row:
    itself = (method, how) == (GLOBAL, Sweep.TUNED)
    numbers = [
        words
        for reading in READINGS
        for words in (
            column.reading(method, reading, how),
            apart(None if itself else _more(column, method, how, reading)),
        )
    ]
    return column.row(method, how, _title(method, how), *numbers)


def _of(column: Column, method: str, how: str) -> str | None:
    own, shared, oracle = (_more(column, method, how, reading) for reading in READINGS)
    if own is None or shared is None or oracle is None:
        return None
    said = (
        f"{name(method)} beside tuned {name(GLOBAL)}: {own.verdict} at each client's validated λ, {own.words}; "
        f"{shared.verdict} at one λ that all validate, {shared.further}; {oracle.verdict} at the oracle's, {oracle.further}"
    )
    return f"tuned {said}{_gain(column, method, how)}" if how else said


def _gain(column: Column, method: str, how: str) -> str:
    """By being tuned."""
    own, shared = (
        paired(column.members(method, reading, how), column.members(method, reading)) for reading in (HEADLINE, SHARED)
    )
    if own is None or shared is None:
        return ""
    return f"; tuning it makes {own.further} at each client's λ and {shared.further} at one for all"


def _more(column: Column, method: str, how: str, reading: str) -> Difference | None:
    """A method less the tuned global model, over the same clients."""
    return paired(column.members(method, reading, how), column.members(GLOBAL, reading, Sweep.TUNED))
