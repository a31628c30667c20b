"""Whether one of our numbers is the published one, or another of ours, by a test that is said with it.

Means of runs differ by their seeds. Where we have several seeds, the spread of their means is what a difference is
measured against, ours and, as it was one run, the published one's; and since three seeds can be alike by chance, clients
must show it too. Where we have one seed, all there is to go by is the spread over clients of either run, as if clients were
independent, which they are not: they share a global model.
"""

from dataclasses import dataclass
from math import erfc, sqrt
from statistics import fmean, stdev
from typing import Literal

from superfed.metrics.student import two_sided

LEVEL = 0.05
SEEDS_NEEDED = 3
"""To tell a spread from them."""
ROUNDING = 1e-9
HALF_A_DIGIT = 0.005
"""Of the last one in print."""

Word = Literal["agrees", "higher", "lower", "unknown"]


@dataclass(frozen=True)
class Score:
    """A mean over clients, and their standard deviation; of accuracies both in percent."""

    mean: float
    std: float | None
    num_clients: int
    seed: int | None = None
    """Of a run of ours."""


@dataclass(frozen=True)
class Verdict:
    word: Word
    difference: float
    """Ours less the other, in points."""
    p: float | None
    by: Literal["seeds", "clients", "nothing"]
    """What the difference was measured against."""

    def sentence(self) -> str:
        if self.p is None:
            return f"{self.difference:+z.2f}: nothing to measure it against"
        how = "t test between seeds, and over clients" if self.by == "seeds" else "z test over clients"
        says = {"agrees": "no difference to be seen", "higher": "ours is higher", "lower": "ours is lower"}
        return f"{self.difference:+z.2f}: {says.get(self.word, 'unknown')} (two-sided {how}, p = {self.p:.2g})"


def verdict(ours: list[Score], published: Score) -> Verdict:
    """``ours`` has a score for each seed."""
    difference = fmean(score.mean for score in ours) - published.mean
    return _judged(difference, _between_seeds(ours, difference), _over_clients(ours, [published], difference))


def verdict_of_two(ours: list[Score], others: list[Score]) -> Verdict:
    """Of two methods of ours: over the seeds that both have, which gave both the same clients, if these are enough; else the
    others are taken as one run with their mean."""
    seeds = {score.seed for score in ours} & {score.seed for score in others} - {None}
    if len(seeds) < SEEDS_NEEDED:
        stds = [score.std for score in others if score.std is not None]
        return verdict(
            ours, Score(fmean(score.mean for score in others), fmean(stds) if stds else None, others[0].num_clients)
        )
    own, their = ({score.seed: score for score in side if score.seed in seeds} for side in (ours, others))
    apart = [score.mean - their[seed].mean for seed, score in own.items()]
    difference, error = fmean(apart), stdev(apart) / sqrt(len(apart))
    between = _certainty(difference) if error < ROUNDING else two_sided(difference / error, len(apart) - 1)
    return _judged(difference, between, _over_clients(list(own.values()), list(their.values()), difference))


def _judged(difference: float, between: float | None, over: float | None) -> Verdict:
    known = [p for p in (between, over) if p is not None]
    if not known:
        return Verdict("unknown", difference, None, "nothing")
    p = max(known)
    word: Word = "agrees" if p >= LEVEL else "higher" if difference > 0 else "lower"
    return Verdict(word, difference, p, "clients" if between is None else "seeds")


def _between_seeds(ours: list[Score], difference: float) -> float | None:
    if len(ours) < SEEDS_NEEDED:
        return None
    error = stdev(score.mean for score in ours) * sqrt(1 / len(ours) + 1)
    return _certainty(difference) if error < ROUNDING else two_sided(difference / error, len(ours) - 1)


def _over_clients(ours: list[Score], others: list[Score], difference: float) -> float | None:
    """Standard deviations are of the clients there are, so that what they say of others has one degree less."""
    squares = [_square_error(ours), _square_error(others)]
    known = [square for square in squares if square is not None]
    if len(known) < len(squares):
        return None
    error = sqrt(sum(known))
    return _certainty(difference) if error < ROUNDING else erfc(abs(difference) / error / sqrt(2))


def _square_error(scores: list[Score]) -> float | None:
    """Of their mean over runs and clients."""
    known = [one.std**2 / (one.num_clients - 1) for one in scores if one.std is not None and one.num_clients > 1]
    return None if len(known) < len(scores) else fmean(known) / len(known)


def _certainty(difference: float) -> float:
    """Where nothing differs, what is more than rounding in print."""
    return 0.0 if abs(difference) > HALF_A_DIGIT else 1.0
