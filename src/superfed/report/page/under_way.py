"""Runs that have no results yet: how far each has come."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from superfed.core.errors import UserError
from superfed.report.markup import Markup, element
from superfed.report.settings import differences, essential, identity, labels
from superfed.report.tables import heading, table
from superfed.store.layout import RunFolder
from superfed.store.tables import read_arrays


@dataclass(frozen=True)
class Standing:
    """One run without results."""

    folder: RunFolder
    title: str
    config: dict[str, Any]
    status: str
    reason: str | None
    rounds: int
    of: int | None

    @property
    def words(self) -> str:
        if self.reason is not None:
            return f"{self.status}: {self.reason}"
        return "evaluating all clients" if self.of is not None and self.rounds >= self.of else self.status


@dataclass(frozen=True)
class UnderWay:
    """The runs that differ only in their seed."""

    name: str
    runs: tuple[Standing, ...]

    @property
    def folders(self) -> list[RunFolder]:
        return [run.folder for run in self.runs]


def under_way(runs: Sequence[RunFolder]) -> list[UnderWay]:
    """Those of ``runs`` that have no results, seeds taken together."""
    groups: dict[str, list[Standing]] = {}
    for run in runs:
        standing = standing_of(run)
        if standing is not None:
            groups.setdefault(identity([standing.title, essential(standing.config)]), []).append(standing)
    members = list(groups.values())
    titles = [group[0].title for group in members]
    told = labels(differences([essential(group[0].config) for group in members], titles), titles)
    names = [f"{title}, {label}" if label else title for title, label in zip(titles, told, strict=True)]
    return [UnderWay(name, tuple(group)) for name, group in zip(names, members, strict=True)]


def standing_of(run: RunFolder) -> Standing | None:
    """None for a run with results. One that has not begun, or cannot be read, says so."""
    try:
        if not run.exists():
            return Standing(run, run.name, {}, "waiting", None, 0, None)
        if run.summary_file.exists():
            return None
        info, config = run.info(), run.config()
    except UserError as error:
        return Standing(run, run.name, {}, "unreadable", str(error), 0, None)
    training = config.get("training")
    of = training.get("rounds") if isinstance(training, dict) else None
    reason = info.get("reason")
    return Standing(
        folder=run,
        title=str(info.get("title", run.name)),
        config=config,
        status=str(info.get("status", "unknown")),
        reason=None if reason is None else str(reason),
        rounds=_rounds_done(run),
        of=of if isinstance(of, int) else None,
    )


def under_way_section(groups: Sequence[UnderWay]) -> Markup:
    """A row per run; the bar is its share of the rounds."""
    body = [
        element(
            "tr",
            element("th", group.name, element("small", run.folder.name), scope="row"),
            element("td", *_bar(run)),
            element("td", run.words, class_="sentence"),
        )
        for group in groups
        for run in group.runs
    ]
    head = [heading("method"), heading("rounds"), heading("", "words")]
    return table("Rounds are counted when a checkpoint is written.", head, body)


def _bar(run: Standing) -> list[str]:
    if run.of is None:
        return [f"{run.rounds}"]
    bar = element("progress", value=run.rounds, max=run.of, aria_label=f"{run.rounds} of {run.of} rounds")
    return [f"{run.rounds} of {run.of} ", bar]


def _rounds_done(run: RunFolder) -> int:
    """Before the first checkpoint there are none to count."""
    try:
        return len(read_arrays(run.rounds, ("round",))["round"])
    except UserError:
        return 0
