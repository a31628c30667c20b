"""Does ν matter once each client's λ is validated?"""

from superfed.report.readings import HEADLINE
from superfed.reproduce import asked
from superfed.reproduce.drawn import Section
from superfed.reproduce.methods import MIXINGS, PUBLISHED_MIXES
from superfed.reproduce.questions.answer import answer
from superfed.reproduce.questions.column import Column, apart, name
from superfed.reproduce.questions.difference import Difference, paired

TITLE = "Does ν matter once λ is validated?"
READINGS = (HEADLINE, "validated_shared", "oracle")
HEADINGS = ("", "validated", "less ν = 0", "validated shared", "less ν = 0", "oracle", "less ν = 0")
NONE = 0.0


def section(column: Column) -> Section:
    rows = []
    for method in MIXINGS:
        for nu in asked.NUS:
            how = _how(column, method, nu)
            numbers = [
                words
                for reading in READINGS
                for words in (column.reading(method, reading, how), apart(_less(column, method, nu, reading)))
            ]
            rows.append(column.row(method, how, f"{name(method)}, ν = {nu:g}", *numbers))
    return Section(TITLE, answer([_of(column, method) for method in MIXINGS]), (), HEADINGS, tuple(rows))


def _of(column: Column, method: str) -> str | None:
    """What the ν furthest from none does, of those seen to do anything if there are any; p is that of one of so many."""
    found = {nu: less for nu in asked.NUS if nu != NONE and (less := _less(column, method, nu, HEADLINE)) is not None}
    if not found:
        return None
    seen = [nu for nu, less in found.items() if less.among(len(found)).seen]
    nu = max(seen or found, key=lambda one: abs(found[one].points))
    furthest, oracle = found[nu].among(len(found)), _less(column, method, nu, "oracle")
    does = "it does" if furthest.by == "seeds" else "it does between the clients of single runs"
    verdict = does if furthest.seen else "no difference is seen"
    beside = "" if oracle is None else f", {oracle.among(len(found)).further} at the oracle's"
    what = f"ν = {nu:g} is furthest from ν = 0: {furthest.words} at the validated λ{beside}"
    return f"for {name(method)} {verdict}; {what}"


def _less(column: Column, method: str, nu: float, reading: str) -> Difference | None:
    """This ν less none."""
    if nu == NONE:
        return None
    one, none = (column.members(method, reading, _how(column, method, value)) for value in (nu, NONE))
    return paired(one, none)


def _how(column: Column, method: str, nu: float) -> str:
    """Table 1's own run has the published ν."""
    mixes = PUBLISHED_MIXES[f"table1/*/{column.clients}"]
    return "" if nu == mixes[list(MIXINGS).index(method)].nu else f"nu{nu:g}"
