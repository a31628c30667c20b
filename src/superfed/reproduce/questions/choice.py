"""How much of SuPerFed's gain is that its λ is chosen on test samples?"""

from superfed.report.readings import HEADLINE
from superfed.reproduce.drawn import Section
from superfed.reproduce.methods import METHODS, MIXINGS
from superfed.reproduce.questions.answer import answer
from superfed.reproduce.questions.column import Column, apart, name
from superfed.reproduce.questions.difference import Difference, level, paired

TITLE = "How much of SuPerFed's gain is the oracle's choice of λ?"
PLAIN = "fedavg"
ANSWERED = (*MIXINGS, "apfl")
"""Methods that mix, and so have a λ to choose."""
READINGS = ("oracle", HEADLINE, "validated_shared")
HEADINGS = (
    "",
    "oracle",
    "over FedAvg",
    "validated",
    "over FedAvg",
    "validated shared",
    "over FedAvg",
    "λ = 0.5",
)


def section(column: Column) -> Section:
    rows = []
    for method in METHODS:
        numbers = [
            words
            for reading in READINGS
            for words in (column.reading(method, reading), apart(_over(column, method, PLAIN, reading)))
        ]
        rows.append(column.row(method, "", name(method), *numbers, column.reading(method, "fixed")))
    best = _best(column)
    return Section(TITLE, answer([_of(column, method, best) for method in ANSWERED]), (), HEADINGS, tuple(rows))


def _of(column: Column, method: str, best: str | None) -> str | None:
    over = {reading: _over(column, method, PLAIN, reading) for reading in READINGS}
    oracle, own, shared = over.values()
    if oracle is None or own is None or shared is None:
        return None
    if oracle.points > 0:
        share = 100 * (oracle.points - own.points) / oracle.points
        part = "more than all" if own.points < 0 else f"{share:.0f} %"
        gain = f"{part} of {name(method)}'s gain over FedAvg is the oracle's choice"
    else:
        gain = f"{name(method)} gains nothing over FedAvg even by the oracle's choice"
    gains = (
        f"{oracle.words} with it, {own.further} at each client's validated λ, {shared.further} at one that all validate"
    )
    against = None if best is None else _over(column, method, best, HEADLINE)
    beside = (
        "" if best is None or against is None else f"; compared with the best baseline, {name(best)}: {against.further}"
    )
    return f"{gain}: {gains}{beside}"


def _over(column: Column, method: str, other: str, reading: str) -> Difference | None:
    return None if other == method else paired(column.members(method, reading), column.members(other, reading))


def _best(column: Column) -> str | None:
    """Of the baselines that were run, at the validated λ where they have one."""
    means = {
        method: level(values)
        for method in METHODS
        if method not in MIXINGS and (values := column.members(method, HEADLINE))
    }
    return max(means, key=lambda method: means[method]) if means else None
