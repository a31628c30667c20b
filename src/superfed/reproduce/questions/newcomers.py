"""How do clients fare that never took part?"""

from superfed.report.numbers import NOTHING
from superfed.report.readings import HEADLINE
from superfed.reproduce import asked
from superfed.reproduce.asked import Sweep
from superfed.reproduce.drawn import Section
from superfed.reproduce.methods import MIXINGS
from superfed.reproduce.questions.answer import answer
from superfed.reproduce.questions.column import Column, apart, mean, name
from superfed.reproduce.questions.difference import Difference, paired, unpaired
from superfed.reproduce.tallies import ARRIVING

TITLE = "How do newcomers fare?"
PLAIN = "fedavg"


def section(column: Column) -> Section:
    after = f"after {_epochs(column)}"
    headings = (
        "",
        "members, validated",
        "newcomers as they arrive",
        f"{after}, validated",
        "less members",
        "less FedAvg's",
        f"{after}, oracle",
    )
    rows = []
    for method in asked.MEETING:
        members = column.reading(method, HEADLINE, Sweep.NEWCOMERS)
        arriving, then, oracle = (mean(column.newcomers(method, way)) for way in (ARRIVING, HEADLINE, "oracle"))
        less = NOTHING if method == PLAIN else apart(_over(column, method, HEADLINE))
        words = (name(method), members, arriving, then, apart(_less(column, method)), less, oracle)
        rows.append(column.row(method, Sweep.NEWCOMERS, *words))
    return Section(TITLE, answer([_of(column, method) for method in MIXINGS]), (), headings, tuple(rows))


def _of(column: Column, method: str) -> str | None:
    less = _less(column, method)
    if less is None:
        return None
    verdict = "not seen to differ from" if not less.seen else f"{less.verdict} than"
    said = f"after {_epochs(column)} {name(method)}'s newcomers are {verdict} its members: {less.words}"
    at_once, then = (_over(column, method, way) for way in (ARRIVING, HEADLINE))
    if at_once is None or then is None:
        return said
    return f"{said}; compared with FedAvg's {then.further}, and as they arrive {at_once.further}"


def _less(column: Column, method: str) -> Difference | None:
    """Newcomers that trained less members, both at their validated λ."""
    return unpaired(column.newcomers(method, HEADLINE), column.members(method, HEADLINE, Sweep.NEWCOMERS))


def _over(column: Column, method: str, way: str) -> Difference | None:
    """The same newcomers, less what FedAvg does for them."""
    return paired(column.newcomers(method, way), column.newcomers(PLAIN, way))


def _epochs(column: Column) -> str:
    """How long they train, which is the same for all."""
    found = {
        one.tallies.epochs for method in asked.MEETING for one in column.of(method, Sweep.NEWCOMERS) if one.tallies
    }
    if len(found) != 1:
        return "training"
    (epochs,) = found
    return f"{epochs} epoch{'' if epochs == 1 else 's'}"
