"""Runs laid side by side: a row for each setting, its seeds averaged."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from superfed.report.averages import Accuracy, mean, readings_over_seeds, spread
from superfed.report.loading import Finished, Unfinished, load, read
from superfed.report.newcomers import Newcomers, newcomers
from superfed.report.readings import HEADLINE, OWN, READINGS, Reading
from superfed.report.settings import Settings, differences, essential, identity, labels
from superfed.store.layout import RunFolder


@dataclass(frozen=True)
class LambdaPoint:
    """Accuracy of all clients at one λ; None for a method that does not mix."""

    lam: float | None
    mean: float
    std: float
    spread: float | None


@dataclass(frozen=True, eq=False)
class Row:
    """The runs that differ only in their seed."""

    title: str
    settings: Settings
    """What differs from other rows, by dotted key."""
    label: str
    """As little of that as tells the rows apart."""
    members: tuple[Finished, ...]
    readings: dict[str, Accuracy]
    worst10: float
    top5: float
    loss: float
    ece: float
    mce: float
    by_lambda: list[LambdaPoint]
    bytes_up: float
    """A run's, on average."""
    bytes_down: float
    diverged_updates: int
    """All runs together."""
    silent_clients: int
    """Whose networks answer nothing, of all runs together; runs of before that was counted have none."""
    never_sampled: list[int]
    """Clients that took part in no round, in each run."""
    newcomers: Newcomers | None
    """None where every client could take part."""

    @property
    def name(self) -> str:
        return f"{self.title}, {self.label}" if self.label else self.title

    @property
    def seeds(self) -> list[int]:
        return [run.seed for run in self.members]

    @property
    def runs(self) -> list[str]:
        return [run.name for run in self.members]

    @property
    def statuses(self) -> dict[str, int]:
        return dict(Counter(run.status for run in self.members))

    @property
    def headline(self) -> Accuracy:
        return self.readings[HEADLINE]

    @property
    def mixes(self) -> bool:
        """Whether there is a λ to choose."""
        return any(point.lam is not None for point in self.by_lambda)

    @property
    def data(self) -> str:
        """Equal for rows that learnt from the same data, whose accuracies can be held against each other."""
        return identity(self.members[0].config.get("data"))


@dataclass(frozen=True)
class Comparison:
    """Rows, best headline first, and the runs that have no results."""

    rows: list[Row]
    unfinished: list[Unfinished]

    @property
    def mixes(self) -> bool:
        return any(row.mixes for row in self.rows)

    @property
    def readings(self) -> tuple[Reading, ...]:
        """Those worth a column: the headline alone where nothing is mixed."""
        if not self.mixes:
            return READINGS[:1]
        return (*READINGS, OWN) if any(OWN.name in row.readings for row in self.rows) else READINGS

    @property
    def newcomers(self) -> list[tuple[Row, Newcomers]]:
        """The rows that met any."""
        return [(row, row.newcomers) for row in self.rows if row.newcomers is not None]

    def best(self, reading: str) -> list[Row]:
        """The rows with the highest accuracy on their data, as far as two decimals of a percent can tell."""
        return leaders({row: round(row.readings[reading].mean, 4) for row in self.rows if reading in row.readings})


def leaders(values: Mapping[Row, float], *, higher_is_better: bool = True) -> list[Row]:
    """Of the rows with ``values`` the best on their data; whoever has no rival there, or no value, is none."""
    rivals: dict[str, list[tuple[float, Row]]] = {}
    for row, value in values.items():
        rivals.setdefault(row.data, []).append((value if higher_is_better else -value, row))
    chosen = []
    for group in rivals.values():
        known = [value for value, _ in group if math.isfinite(value)]
        if len(group) > 1 and known:
            chosen += [row for value, row in group if value == max(known)]
    return chosen


def compare(runs: Sequence[RunFolder]) -> Comparison:
    """Lay ``runs`` side by side. Unfinished ones are listed apart; without a finished one there is nothing to say."""
    return _laid_out(*load(runs))


def compare_so_far(runs: Sequence[RunFolder]) -> Comparison:
    """The same while there may be nothing to say yet: then there are no rows."""
    finished, unfinished, _ = read(runs)
    return _laid_out(finished, unfinished)


def _laid_out(finished: Sequence[Finished], unfinished: list[Unfinished]) -> Comparison:
    groups: dict[str, list[Finished]] = {}
    for run in finished:
        groups.setdefault(identity([run.method, essential(run.config)]), []).append(run)
    parts = [part for group in groups.values() for part in _without_repeats(group)]
    settings = [essential(members[0].config) | apart for members, apart in parts]
    methods = [members[0].method for members, _ in parts]
    differing = differences(settings, methods)
    rows = [
        _row(members, own, label)
        for (members, _), own, label in zip(parts, differing, labels(differing, methods), strict=True)
    ]
    return Comparison(sorted(rows, key=lambda row: _or_lowest(row.headline.mean), reverse=True), unfinished)


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Plain JSON types; what is not a finite number becomes null."""
    return {
        "headline": HEADLINE,
        "rows": [_row_as_json(row) for row in comparison.rows],
        "unfinished": [run._asdict() for run in comparison.unfinished],
    }


def _without_repeats(group: list[Finished]) -> list[tuple[list[Finished], Settings]]:
    """A seed that was run twice is no second sample: such runs stay apart, told by their folders."""
    if len({run.seed for run in group}) == len(group):
        return [(sorted(group, key=lambda run: run.seed), {})]
    folders: dict[Path, list[Finished]] = {}
    for run in group:
        folders.setdefault(run.folder.path.resolve().parent, []).append(run)
    if len(folders) == 1:
        return [([run], {"run": run.name}) for run in group]
    names = [folder.name for folder in folders]
    return [
        (members, {"folder": folder.name if names.count(folder.name) == 1 else str(folder)} | more)
        for folder, inside in folders.items()
        for members, more in _without_repeats(inside)
    ]


def _row(members: list[Finished], settings: Settings, label: str) -> Row:
    summaries = [run.summary for run in members]

    def headline(metric: str, statistic: str = "mean") -> float:
        return mean([summary["readings"][HEADLINE][metric][statistic] for summary in summaries])

    return Row(
        title=members[0].title,
        settings=settings,
        label=label,
        members=tuple(members),
        readings=readings_over_seeds([summary["readings"] for summary in summaries]),
        worst10=headline("top1", "worst10"),
        top5=headline("top5"),
        loss=headline("loss"),
        ece=headline("ece"),
        mce=headline("mce"),
        by_lambda=_by_lambda([summary["by_lambda"] for summary in summaries]),
        bytes_up=mean([summary["bytes_up"] for summary in summaries]),
        bytes_down=mean([summary["bytes_down"] for summary in summaries]),
        diverged_updates=sum(summary["diverged_updates"] for summary in summaries),
        silent_clients=sum(summary.get("silent_clients", 0) for summary in summaries),
        never_sampled=[summary["never_sampled"] for summary in summaries],
        newcomers=newcomers(members),
    )


def _by_lambda(seeds: list[list[dict[str, Any]]]) -> list[LambdaPoint]:
    """At the λ that every seed has: one of them may have been evaluated anew on a finer grid."""
    by_seed = [{_key(point["lam"]): point["top1"] for point in points} for points in seeds]
    points = []
    for lam in by_seed[0]:
        if all(lam in found for found in by_seed):
            means = [found[lam]["mean"] for found in by_seed]
            std = mean([found[lam]["std"] for found in by_seed])
            points.append(LambdaPoint(lam, mean(means), std, spread(means)))
    return points


def _key(lam: float | None) -> float | None:
    return None if lam is None else round(lam, 9)


def _or_lowest(mean: float) -> float:
    """For ordering: an accuracy that is not known is below all that are."""
    return mean if math.isfinite(mean) else -1.0


def _row_as_json(row: Row) -> dict[str, Any]:
    met = {} if row.newcomers is None else {"newcomers": asdict(row.newcomers)}
    plain: dict[str, Any] = plain_json(
        {
            "title": row.title,
            "settings": row.settings,
            "seeds": row.seeds,
            "runs": [{"name": run.name, "path": str(run.folder.path)} for run in row.members],
            "statuses": row.statuses,
            "readings": {name: vars(reading) for name, reading in row.readings.items()},
            "worst10": row.worst10,
            "top5": row.top5,
            "loss": row.loss,
            "ece": row.ece,
            "mce": row.mce,
            "by_lambda": [vars(point) for point in row.by_lambda],
            "bytes_up": row.bytes_up,
            "bytes_down": row.bytes_down,
            "diverged_updates": row.diverged_updates,
            "silent_clients": row.silent_clients,
            "never_sampled": row.never_sampled,
        }
        | met
    )
    return plain


def plain_json(value: object) -> Any:
    """Plain JSON types; what is not a finite number becomes null."""
    if isinstance(value, dict):
        return {str(key): plain_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain_json(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (int, str)) else str(value)
