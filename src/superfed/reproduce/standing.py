"""The paper's claim, column by column: is SuPerFed better than every other method?"""

from collections.abc import Callable, Sequence

from superfed.report.numbers import NOTHING
from superfed.report.readings import HEADLINE
from superfed.reproduce.aside import Aside
from superfed.reproduce.compare import SHARED, Line, mean_of
from superfed.reproduce.methods import MIXINGS
from superfed.reproduce.verdict import LEVEL, SEEDS_NEEDED, Score, verdict_of_two
from superfed.reproduce.words import METHODS, grouped, row_title

TITLE = "Is SuPerFed the best?"


def standing(lines: Sequence[Line]) -> Aside:
    """A row for each column and metric of which SuPerFed and some other method were run."""
    headings = ("", "run", lines[0].reading, HEADLINE, SHARED.replace("_", " "), "in print")
    rows = []
    for group in grouped(lines):
        sound = [line for line in group if line.unstable is None]
        at_reading = lead(sound, lambda line: line.ours)
        if at_reading is not None:
            run = sum(bool(line.ours) for line in group)
            others = [lead(sound, _own), lead(sound, _shared), lead(group, _printed)]
            told = (other or NOTHING for other in others)
            rows.append((row_title(group, lines), f"{run}/{len(group)}", at_reading, *told))
    return Aside(TITLE, headings, rows, _sentence())


def _sentence() -> str:
    first, second = (_short(method) for method in MIXINGS)
    return (
        f"{TITLE} The better of SuPerFed-{first} and SuPerFed-{second} less the best other method, and who the two are: at "
        "the λ of the paper's reading, at each client's own choice on its validation samples, and at one for all that "
        "they choose together, of the methods that were run and are not unstable; and in print, of all. In points, or in "
        f"the unit of an error, where less is better. * where, of ours, p < {LEVEL:g}: with {SEEDS_NEEDED} seeds in common "
        "by a two-sided t test of their differences seed by seed, if clients show it too; else by the test of the "
        "verdicts, with the best other as one run. p is not corrected for the other's having been chosen as the best."
    )


def lead(group: Sequence[Line], scores: Callable[[Line], Sequence[Score]]) -> str | None:
    """Of the better SuPerFed over the best other method, and who they are; None where one side is missing."""
    known = [(line.method, list(of_line)) for line in group if (of_line := scores(line))]
    ours, others = ([one for one in known if (one[0] in MIXINGS) is own] for own in (True, False))
    if not ours or not others:
        return None
    sign = -1 if group[0].less_is_better else 1
    (first, own), (second, beaten) = (max(side, key=lambda one: sign * mean_of(one[1])) for side in (ours, others))
    found = verdict_of_two(own, beaten)
    seen = "*" if found.p is not None and found.p < LEVEL else ""
    return f"{found.difference:+z.2f}{seen} {_short(first)}, {METHODS[second]}"


def _short(method: str) -> str:
    """``SuPerFed-MM`` → MM."""
    return METHODS[method].rpartition("-")[2]


def _own(line: Line) -> tuple[Score, ...]:
    return line.headline


def _shared(line: Line) -> tuple[Score, ...]:
    return line.shared


def _printed(line: Line) -> tuple[Score, ...]:
    return line.printed
