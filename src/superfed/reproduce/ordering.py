"""Whether methods come in the order of print, which is what is left to compare where the numbers cannot be."""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import sqrt

from superfed.report.numbers import NOTHING
from superfed.reproduce.aside import Aside
from superfed.reproduce.compare import Line, mean_of
from superfed.reproduce.verdict import Score
from superfed.reproduce.words import METHODS, STANDARD, group_title, grouped, has_standard, metric_words

TITLE = "Do methods come in the order of print?"
FEWEST = 3
"""Methods that an order takes."""
SENTENCE = (
    "τ is Kendall's, between ours at the λ of the paper's reading and what was published: 1 where all pairs of methods come "
    "in the same order, -1 where they come in the reverse one, about 0 where one order says nothing about the other. Methods "
    "whose published numbers are no targets where the others' are, are left out of it, and so are ours that are unstable."
)
OTHERWISE = " standard: the same with our errors computed over all of a client's samples, not batch by batch."


def ordering(lines: Sequence[Line]) -> Aside:
    """A row for each column and metric of which at least three methods were run."""
    both = has_standard(lines)
    extra = (f"τ {STANDARD}", f"first, {STANDARD}") if both else ()
    headings = ("", "run", "τ", "first, ours", *extra, "first, in print")
    return Aside(TITLE, headings, [row for group in grouped(lines) if (row := _row(group, both))], _sentence(both))


def kendall(pairs: Sequence[tuple[float, float]]) -> float | None:
    """τ-b of two orders; None where one of them has nothing but ties."""
    agreeing, left, right = 0, 0, 0
    for (a, b), (c, d) in combinations(pairs, 2):
        first, second = _sign(a - c), _sign(b - d)
        agreeing += first * second
        left, right = left + abs(first), right + abs(second)
    return agreeing / sqrt(left * right) if left and right else None


def _row(group: Sequence[Line], both: bool) -> tuple[str, ...] | None:
    run = [line for line in group if line.ours]
    sound = [line for line in run if line.unstable is None]
    if len(_comparable(sound)) < FEWEST:
        return None
    cells = [_tau(sound, _ours), _first(sound, _ours)]
    if both:
        known = all(line.standard for line in sound)
        cells += [_tau(sound, _standard), _first(sound, _standard)] if known else [NOTHING, NOTHING]
    place = f"{group_title(group)}, {metric_words(group)}"
    return (place, f"{len(run)}/{len(group)}", *cells, _first(group, _printed))


def _comparable(lines: Sequence[Line]) -> list[Line]:
    """Those whose published runs had no faults but those of the whole column."""
    usual = min((line.no_target or "" for line in lines), key=len, default="")
    return [line for line in lines if (line.no_target or "") == usual]


def _tau(lines: Sequence[Line], scores: Callable[[Line], Sequence[Score]]) -> str:
    found = kendall([(mean_of(scores(line)), line.published.mean) for line in _comparable(lines)])
    return NOTHING if found is None else f"{found:+z.2f}"


def _first(lines: Sequence[Line], scores: Callable[[Line], Sequence[Score]]) -> str:
    """Who it is, or how many there are."""
    best = (min if lines[0].less_is_better else max)(mean_of(scores(line)) for line in lines)
    first = [METHODS[line.method] for line in lines if mean_of(scores(line)) == best]
    return first[0] if len(first) == 1 else f"{len(first)} alike"


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _ours(line: Line) -> Sequence[Score]:
    return line.ours


def _standard(line: Line) -> Sequence[Score]:
    return line.standard


def _printed(line: Line) -> Sequence[Score]:
    return line.printed


def _sentence(both: bool) -> str:
    return SENTENCE + (OTHERWISE if both else "")
