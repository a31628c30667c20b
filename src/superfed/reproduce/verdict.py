"""Whether one of our numbers is the published one, by a test that is said with it.

Means of runs differ by their seeds. Where we have several seeds, the spread of their means is what a difference is
measured against, ours and, as it was one run, the published one's. Where we have one seed, all there is to go by is the
spread over clients of either run, as if clients were independent, which they are not: they share a global model.
"""

from dataclasses import dataclass
from math import erfc, sqrt
from statistics import fmean, stdev
from typing import Literal

from superfed.metrics.student import two_sided

LEVEL = 0.05
SEEDS_NEEDED = 3
"""To tell a spread from them."""

Word = Literal["agrees", "higher", "lower", "unknown"]


@dataclass(frozen=True)
class Figure:
    """A mean over clients, and their standard deviation; both in percent."""

    mean: float
    std: float | None
    num_clients: int


@dataclass(frozen=True)
class Verdict:
    word: Word
    difference: float
    """Ours less the published, in points."""
    p: float | None
    by: Literal["seeds", "clients", "nothing"]
    """What the difference was measured against."""

    def sentence(self) -> str:
        if self.p is None:
            return f"{self.difference:+.2f}: nothing to measure it against"
        how = "t test between seeds" if self.by == "seeds" else "z test over clients"
        says = {"agrees": "no difference to be seen", "higher": "ours is higher", "lower": "ours is lower"}
        return f"{self.difference:+.2f}: {says.get(self.word, 'unknown')} (two-sided {how}, p = {self.p:.2g})"


def verdict(ours: list[Figure], published: Figure) -> Verdict:
    """``ours`` has a figure for each seed."""
    difference = fmean(figure.mean for figure in ours) - published.mean
    error, by = _standard_error(ours, published)
    if error is None:
        return Verdict("unknown", difference, None, by)
    if error == 0:
        p = 1.0 if difference == 0 else 0.0
    elif by == "seeds":
        p = two_sided(difference / error, len(ours) - 1)
    else:
        p = erfc(abs(difference) / error / sqrt(2))
    word: Word = "agrees" if p >= LEVEL else "higher" if difference > 0 else "lower"
    return Verdict(word, difference, p, by)


def _standard_error(
    ours: list[Figure], published: Figure
) -> tuple[float | None, Literal["seeds", "clients", "nothing"]]:
    if len(ours) >= SEEDS_NEEDED:
        spread = stdev(figure.mean for figure in ours)
        return spread * sqrt(1 / len(ours) + 1), "seeds"
    spreads = [figure.std for figure in ours if figure.std is not None]
    if len(spreads) < len(ours) or published.std is None:
        return None, "nothing"
    own = fmean(s * s / figure.num_clients for s, figure in zip(spreads, ours, strict=True)) / len(ours)
    return sqrt(own + published.std**2 / published.num_clients), "clients"
