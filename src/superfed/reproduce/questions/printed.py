"""The published number of a method in a column, and how far ours are from it."""

from superfed.report.numbers import NOTHING
from superfed.reproduce.compare import told
from superfed.reproduce.published import Number, published
from superfed.reproduce.questions.column import Column
from superfed.reproduce.questions.difference import level
from superfed.reproduce.verdict import Figure
from superfed.reproduce.words import figure


def printed(column: Column, method: str) -> str:
    number = _number(column, method)
    return NOTHING if number is None else figure(told([Figure(number.mean, number.std, 0)]))


def nearer(column: Column, method: str, how: str) -> str:
    """How far what was varied is from what was published, and how far what was not, where that is a target."""
    number = _number(column, method)
    if number is None or published().fault_of(_cell(column, method)) is not None:
        return ""
    far = [level(column.members(method, "oracle", which)) - number.mean for which in (how, "")]
    return f", {far[0]:+.2f} from the published number and not {far[1]:+.2f}"


def _number(column: Column, method: str) -> Number | None:
    return published().of(_cell(column, method), "top1")


def _cell(column: Column, method: str) -> str:
    return f"table1/{column.dataset}/{column.clients}/{method}"
