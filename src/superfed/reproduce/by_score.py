"""Numbers with each client's λ chosen by the very score that is reported, and not by top-1 as everywhere else.

The paper does not print by which score the best λ was taken where it reports another than top-1.
"""

from collections.abc import Sequence

from superfed.report.numbers import NOTHING
from superfed.reproduce.aside import Aside
from superfed.reproduce.compare import Line, mean_of
from superfed.reproduce.methods import MIXINGS
from superfed.reproduce.standing import lead
from superfed.reproduce.verdict import Score
from superfed.reproduce.words import METHODS, grouped, row_title

CHOOSING = ("apfl", *MIXINGS)
"""Methods with a λ; nothing is said where it is not known of all of them, since then the lead would not be fair."""
ORACLE = "oracle"
"""The reading for which clients choose a λ by a score on their test samples."""
TITLE = "And if λ is chosen by the score itself?"
SENTENCE = (
    f"{TITLE} Where another score than top-1 is reported, the paper does not say by which of them a client's best λ on "
    "its test samples was chosen; ours is chosen by top-1. Here it is chosen by the reported score itself, which is "
    "the most that one can get: the mean over clients, and by how much it differs from ours; and the lead, the better "
    "SuPerFed less the best other method, with its * as above. Columns whose runs were made before this was recorded "
    "are left out."
)


def by_score(lines: Sequence[Line]) -> Aside:
    """A row for each column and metric of which it is known."""
    lines = [line for line in lines if line.reading == ORACLE]
    methods = [method for method in METHODS if any(_is_known(line) and line.method == method for line in lines)]
    rows = []
    for group in grouped(lines):
        sound = [line for line in group if line.unstable is None]
        known = {line.method: line for line in sound if _is_known(line)}
        if known and all(line.method in known for line in sound if line.ours and line.method in CHOOSING):
            run = f"{sum(bool(line.ours) for line in group)}/{len(group)}"
            cells = (_told(known[method]) if method in known else NOTHING for method in methods)
            rows.append((row_title(group, lines), run, *cells, lead(sound, _at_its_best) or NOTHING))
    return Aside(TITLE, ("", "run", *(METHODS[method] for method in methods), "lead"), rows, SENTENCE)


def _is_known(line: Line) -> bool:
    """Of all of its runs: some may have been made before it was recorded, and others' means are of other seeds."""
    return bool(line.by_score) and len(line.by_score) == len(line.ours)


def _told(line: Line) -> str:
    best = mean_of(line.by_score)
    return f"{best:.2f} {best - mean_of(line.ours):+z.2f}"


def _at_its_best(line: Line) -> Sequence[Score]:
    """Where there is no λ to choose, the number that there is."""
    return line.by_score or line.ours
