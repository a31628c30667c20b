"""Our numbers beside the published ones, cell by cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from superfed.metrics.scores import HIGHER_IS_BETTER
from superfed.report.readings import HEADLINE
from superfed.reproduce.address import Addressed
from superfed.reproduce.best_by_score import BY_SCORE
from superfed.reproduce.published import Number, Published, published
from superfed.reproduce.unstable import unstable
from superfed.reproduce.verdict import Score, Verdict, verdict

SHARED = "validated_shared"
Summary = Mapping[str, Any]
"""What a finished run says of itself."""


@dataclass(frozen=True)
class Line(Addressed):
    """One printed number and ours. ``ours`` and ``headline`` have a score for each seed; they are empty where there is
    no run yet."""

    cell: str
    metric: str
    published: Number
    reading: str
    """The reading of λ that the published number is, and ``ours`` is too."""
    ours: tuple[Score, ...]
    headline: tuple[Score, ...]
    """The same metric at each client's validated λ."""
    shared: tuple[Score, ...]
    """And at one λ for all that they validate together."""
    no_target: str | None
    """Why the published number is none."""
    faults: str | None
    """The same, with what ours have too."""
    oddity: str | None
    standard: tuple[Score, ...]
    """Our metric of the printed name, where what was printed under it is another one of ours; empty where it is that one."""
    unstable: str | None
    """What is to be said of ours, where training blew up or died."""
    earlier: tuple[Score, ...]
    """Of runs that were made again, with the same settings and seed: ours in whose place others are now."""
    by_score: tuple[Score, ...]
    """Ours with each client's λ chosen by this very metric, where it is not top-1 and there is a λ to choose."""

    @property
    def address(self) -> str:
        return self.cell

    @property
    def less_is_better(self) -> bool:
        return self.metric not in HIGHER_IS_BETTER

    @property
    def printed(self) -> tuple[Score, ...]:
        """Without a spread: what it would be tested against is not known."""
        return (Score(self.published.mean, None, 0),)

    @property
    def verdict(self) -> Verdict | None:
        """None where there is nothing of ours, where training blew up or died, or where the published number is no target."""
        if not self.ours or self.unstable is not None or self.no_target is not None:
            return None
        told = Score(self.published.mean, self.published.std, self.ours[0].num_clients)
        return verdict(list(self.ours), told)


@dataclass(frozen=True)
class Told:
    """A score over seeds: the mean, the mean of the standard deviations over clients, and the spread of the means."""

    mean: float
    std: float | None
    over_seeds: float | None
    seeds: int


def mean_of(scores: Sequence[Score]) -> float:
    return fmean(one.mean for one in scores)


def told(scores: Sequence[Score]) -> Told | None:
    if not scores:
        return None
    means = [score.mean for score in scores]
    stds = [score.std for score in scores if score.std is not None]
    return Told(fmean(means), fmean(stds) if stds else None, stdev(means) if len(means) > 1 else None, len(means))


def compare(table: str, summaries: Mapping[str, Sequence[Summary]], numbers: Published | None = None) -> list[Line]:
    """A line for every number that ``table`` prints; ``summaries`` has the finished runs of a cell, one for each seed."""
    source = numbers or published()
    info = source.tables[table]
    found = []
    for cell in source.cells(table):
        for metric in source.metrics(cell):
            number = source.of(cell, metric)
            assert number is not None
            factor = 100.0 if source.units.get(metric) == "percent" else 1.0
            own = source.beside(table, metric)
            runs = summaries.get(cell, ())
            found.append(
                Line(
                    cell=cell,
                    metric=metric,
                    published=number,
                    reading=info.reading,
                    ours=scores(runs, info.reading, own, factor),
                    headline=scores(runs, HEADLINE, own, factor),
                    shared=scores(runs, SHARED, own, factor),
                    no_target=source.fault_of(cell),
                    faults=source.faults_of(cell),
                    oddity=source.oddity_of(cell, metric),
                    standard=() if own == metric else scores(runs, info.reading, metric, factor),
                    unstable=unstable(runs),
                    earlier=scores(_replaced(runs), info.reading, own, factor),
                    by_score=scores(runs, BY_SCORE, own, factor),
                )
            )
    return found


def completed(lines: Sequence[Line]) -> list[Line]:
    """With the other lines of the same columns, of which nothing is known but what was printed."""
    known = {(line.cell, line.metric): line for line in lines}
    columns = {(line.dataset, line.setting) for line in lines}
    printed = (line for line in compare(lines[0].table, {}) if (line.dataset, line.setting) in columns)
    return [known.get((line.cell, line.metric), line) for line in printed]


def _replaced(summaries: Sequence[Summary]) -> list[Summary]:
    return [
        one | {"num_clients": summary["num_clients"]} for summary in summaries for one in summary.get("earlier", ())
    ]


def scores(summaries: Sequence[Summary], reading: str, metric: str, factor: float = 100.0) -> tuple[Score, ...]:
    """One for each run that has the metric."""
    found = []
    for summary in summaries:
        over_clients = summary["readings"][reading].get(metric)
        if over_clients is not None and over_clients["mean"] is not None:
            mean, std = over_clients["mean"] * factor, over_clients["std"]
            std, clients = None if std is None else std * factor, int(summary["num_clients"])
            found.append(Score(mean, std, clients, summary.get("seed")))
    return tuple(found)
