"""What a method without personal models has if each client trains its global model a little further in the end."""

from superfed.report.readings import HEADLINE
from superfed.reproduce import asked
from superfed.reproduce.asked import Sweep
from superfed.reproduce.drawn import Row, Section
from superfed.reproduce.methods import METHODS, MIXINGS
from superfed.reproduce.questions.answer import answer
from superfed.reproduce.questions.column import Column, apart, name
from superfed.reproduce.questions.difference import Difference, paired

TITLE = "Would it do to train the global model a little further in the end?"
TUNED = f"{name(asked.TUNED)}, tuned"
READINGS = (HEADLINE, "validated_shared", "oracle")
LESS = f"less {TUNED}"
HEADINGS = ("", "validated", LESS, "validated shared", LESS, "oracle", LESS)


def section(column: Column) -> Section:
    rows = [
        _row(column, asked.TUNED, Sweep.TUNED, TUNED),
        *(_row(column, method, "", name(method)) for method in METHODS),
    ]
    return Section(TITLE, answer([_of(column, method) for method in MIXINGS]), (), HEADINGS, tuple(rows))


def _row(column: Column, method: str, how: str, title: str) -> Row:
    numbers = [
        words
        for reading in READINGS
        for words in (column.reading(method, reading, how), apart(None if how else _more(column, method, reading)))
    ]
    return column.row(method, how, title, *numbers)


def _of(column: Column, method: str) -> str | None:
    own, shared, oracle = (_more(column, method, reading) for reading in READINGS)
    if own is None or shared is None or oracle is None:
        return None
    each, together = f"at each client's validated λ, by {own.words}", f"by {shared.words} at one λ that all validate"
    return f"{name(method)} is {own.verdict} than that {each}; {together}, and by {oracle.words} at the oracle's"


def _more(column: Column, method: str, reading: str) -> Difference | None:
    """A method less the tuned global model, over the same clients."""
    return paired(column.members(method, reading), column.members(asked.TUNED, reading, Sweep.TUNED))
