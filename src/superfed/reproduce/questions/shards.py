"""Are shards that are dealt at random harder than those dealt in turn?"""

from functools import partial

from superfed.report.readings import HEADLINE
from superfed.reproduce import asked
from superfed.reproduce.asked import Sweep
from superfed.reproduce.drawn import Section
from superfed.reproduce.methods import MIXINGS
from superfed.reproduce.questions.answer import answer
from superfed.reproduce.questions.column import Column, name
from superfed.reproduce.questions.difference import Difference, paired, unpaired

TITLE = "Are shards dealt at random harder than cyclic ones?"
PLAIN = "fedavg"
HEADINGS = ("", "cyclic, validated", "random, validated", "points", "cyclic, oracle", "random, oracle", "points")


def section(column: Column) -> Section:
    rows = [column.beside(method, Sweep.RANDOM, partial(_less, column, method)) for method in asked.DEALT]
    clauses = [_harder(column), *(_lead(column, method) for method in MIXINGS)]
    return Section(TITLE, answer(clauses), (), HEADINGS, tuple(rows))


def _harder(column: Column) -> str | None:
    found = {method: less for method in asked.DEALT if (less := _less(column, method, HEADLINE)) is not None}
    verdicts = {method: _verdict(less) for method, less in found.items()}
    parts = []
    for verdict in dict.fromkeys(verdicts.values()):
        whom = [f"{name(method)} ({found[method].inside})" for method, own in verdicts.items() if own == verdict]
        parts.append(f"{verdict} for {', '.join(whom)}")
    missing = "" if len(found) == len(asked.DEALT) else " (of those that were run)"
    return f"at the validated λ random shards are {', and '.join(parts)}{missing}" if parts else None


def _verdict(less: Difference) -> str:
    if not less.seen:
        return "neither harder nor easier, as far as is seen,"
    return "harder" if less.points < 0 else "easier"


def _lead(column: Column, method: str) -> str | None:
    """Over FedAvg, with either deal."""
    cyclic, random = (
        paired(column.members(method, HEADLINE, how), column.members(PLAIN, HEADLINE, how))
        for how in ("", Sweep.RANDOM)
    )
    if cyclic is None or random is None:
        return None
    return f"{name(method)}'s gain over FedAvg is {cyclic.words} with cyclic shards, {random.further} with random ones"


def _less(column: Column, method: str, reading: str) -> Difference | None:
    """Random less cyclic: other clients, since they hold other samples."""
    return unpaired(column.members(method, reading, Sweep.RANDOM), column.members(method, reading))
