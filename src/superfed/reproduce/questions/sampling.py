"""Are the clients that fail those that were never sampled?"""

from collections.abc import Callable

import numpy as np

from superfed.report.numbers import NOTHING
from superfed.report.readings import HEADLINE
from superfed.reproduce.drawn import Section
from superfed.reproduce.methods import METHODS, MIXINGS
from superfed.reproduce.questions.answer import answer
from superfed.reproduce.questions.column import MISSING, Column, mean, name
from superfed.reproduce.questions.difference import Values, unpaired
from superfed.reproduce.tallies import Tallies

TITLE = "Are the clients that fail those that were never sampled?"
FAILING = 50.0
"""Percent: about what a client with two labels has right if it always names the same one."""
HEADINGS = ("", "clients", "validated", "of whom fail", "oracle", "of whom fail")

NEVER = "never sampled"
BEFORE = "only before L"
OTHERS = "others"
GROUPS: dict[str, Callable[[Tallies], set[int]]] = {
    NEVER: lambda of: set(of.never_sampled),
    BEFORE: lambda of: set(of.only_before),
    OTHERS: lambda of: set(range(len(of.members.samples))) - set(of.never_sampled) - set(of.only_before),
}


def section(column: Column) -> Section:
    rows = []
    for method in METHODS:
        if not column.of(method):
            rows.append(column.row(method, "", name(method), MISSING, *(NOTHING for _ in HEADINGS[2:])))
        for group in GROUPS:
            own, oracle = (_group(column, method, reading, group) for reading in (HEADLINE, "oracle"))
            if _count(own):
                words = (f"{_count(own)}", mean(own), f"{_failing(own)}", mean(oracle), f"{_failing(oracle)}")
                rows.append(column.row(method, "", f"{name(method)}, {group}", *words))
    clauses = [*(_of(column, method) for method in MIXINGS), _baselines(column)]
    return Section(TITLE, answer(clauses), (), HEADINGS, tuple(rows))


def _of(column: Column, method: str) -> str | None:
    if not column.of(method):
        return None
    never, before, others = (_group(column, method, HEADLINE, group) for group in GROUPS)
    every = sum(_failing(of) for of in (never, before, others))
    clients = sum(_count(of) for of in (never, before, others))
    failing = f"{every} of {clients} clients fail{'s' if every == 1 else ''}" if every else "no client fails"
    said = f"with {name(method)} {failing}" + (f", {_failing(never)} of them never sampled" if every else "")
    groups = (("those never sampled", never), ("those sampled only before L", before))
    less = [f"{who} are at {apart.words}" for who, of in groups if (apart := unpaired(of, others)) is not None]
    return f"{said}; compared with the others, {', '.join(less)}" if less else said


def _baselines(column: Column) -> str | None:
    found = [method for method in METHODS if method not in MIXINGS and column.of(method)]
    if not found:
        return None
    never = {method: _failing(_group(column, method, HEADLINE, NEVER)) for method in found}
    every = {method: _failing(column.members(method, HEADLINE)) for method in found}
    some = [
        f"{never[method]} of {every[method]} with {name(method)} (of {_count(column.members(method, HEADLINE))} clients)"
        for method in found
        if every[method]
    ]
    if not some:
        return "with the baselines nobody fails"
    return f"of the baselines' clients that fail, never sampled were {', '.join(some)}"


def _group(column: Column, method: str, reading: str, group: str) -> Values:
    found = {}
    for one in column.of(method):
        if one.tallies is not None:
            values = one.tallies.members.percent(reading)[sorted(GROUPS[group](one.tallies))]
            found[one.seed] = values[~np.isnan(values)]
    return found


def _count(values: Values) -> int:
    return sum(int((of == of).sum()) for of in values.values())  # NaN is not itself


def _failing(values: Values) -> int:
    return sum(int((of <= FAILING).sum()) for of in values.values())
