"""The published number of a method in a column, and how far ours are from it."""

from superfed.reproduce.published import Number, published
from superfed.reproduce.questions.column import Column
from superfed.reproduce.questions.difference import compared, level
from superfed.reproduce.words import in_print


def printed(column: Column, method: str) -> str:
    return in_print(_number(column, method))


def nearer(column: Column, method: str, how: str) -> str:
    """How far what was varied is from what was published, and how far what was not if that is another number, of the seeds
    that are compared; where that is a target."""
    number = _number(column, method)
    if number is None or published().fault_of(_cell(column, method)) is not None:
        return ""
    both = compared(column.members(method, "oracle", how), column.members(method, "oracle"))
    now, before = (f"{level(side) - number.mean:+z.2f}" for side in both)
    return f"; {now} from the published number" + ("" if now == before else f", otherwise {before}")


def _number(column: Column, method: str) -> Number | None:
    return published().of(_cell(column, method), "top1")


def _cell(column: Column, method: str) -> str:
    return f"{column.table}/{column.dataset}/{column.clients}/{method}"
