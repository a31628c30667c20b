"""What a finished run says for one cell: all that tables and figures are made of, small enough to be kept for good."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.experiments.schema import RunConfig
from superfed.reproduce.best_by_score import BY_SCORE, best_by_score
from superfed.reproduce.cells import Cell, PlannedRun
from superfed.reproduce.landscape import Landscape
from superfed.reproduce.paper import Plain
from superfed.reproduce.parts import TARGET as PARTS
from superfed.reproduce.parts import place_of
from superfed.reproduce.provenance import Made
from superfed.reproduce.published import published
from superfed.reproduce.running import states
from superfed.reproduce.surveys import surveyed
from superfed.reproduce.tallies import Tallies
from superfed.store.layout import RunFolder

DIGITS = 6
ACCURACY = ("top1",)
"""The metrics that figures and questions are about."""

USED = ("oracle", "best_shared", "validated", "validated_shared", "fixed")
"""The readings that every record has."""

RECORDED: Mapping[str, type] = {"cell": str, "seed": int, "num_clients": int, "diverged": int, "silent": int}
MADE_OF: Mapping[str, type | tuple[type, ...]] = {
    "folder": str,
    "began": str,
    "settings": str,
    "data": str,
    "seconds": (int, float),
    "engine": dict,
    "versions": dict,
    "hardware": dict,
}
"""What is looked at in a file that anyone may have written: what of a record, and how it was made, is of which kind."""


@dataclass(frozen=True)
class Record:
    cell: str
    seed: int
    num_clients: int
    readings: Plain
    """By reading and metric: mean and standard deviation over clients."""
    made: Made
    by_lambda: Sequence[Plain] = ()
    """Top-1 at each λ where there is one to choose; questions have their tallies."""
    surfaces: Mapping[str, Landscape] = field(default_factory=dict)
    """By view, for cells of Figure A."""
    tallies: Tallies | None = None
    """Client by client, for cells of the open questions."""
    diverged: int = 0
    """How many client updates were not finite."""
    silent: int | None = None
    """How many clients ended with a network that answers nothing; None of runs made before that was counted."""
    by_score: Plain = field(default_factory=dict)
    """By metric but top-1, with each client's λ chosen by it: mean and standard deviation over clients."""
    earlier: Sequence[Plain] = ()
    """The readings of runs with the same settings and seed in whose place this one is kept, and how they were made."""

    def instead_of(self, other: "Record") -> "Record":
        """This one, which remembers the other's numbers; or what else is known of the run if they are of the same."""
        if other.made.began == self.made.began:
            surfaces = {**other.surfaces, **self.surfaces}  # stored where the checkpoints may be gone by now
            return replace(self, surfaces=surfaces, earlier=other.earlier)
        known = [*other.earlier, {"readings": other.readings, "made": asdict(other.made)}]
        return replace(self, earlier=[one for one in known if one["made"]["began"] != self.made.began])

    @property
    def summary(self) -> Plain:
        return {
            "seed": self.seed,
            "num_clients": self.num_clients,
            "readings": self.readings | {BY_SCORE: self.by_score},
            "diverged_updates": self.diverged,
            "silent_clients": self.silent,
            "stopped": self.made.stopped,
            "earlier": self.earlier,
        }

    def as_plain(self) -> Plain:
        optional = ("by_lambda", "surfaces", "tallies", "diverged", "by_score", "earlier")
        unsaid = [key for key in optional if not getattr(self, key)] + ["silent"] * (self.silent is None)
        return {key: value for key, value in asdict(self).items() if key not in unsaid}

    @classmethod
    def from_plain(cls, plain: Plain) -> "Record":
        """``KeyError``, ``TypeError`` and the like, if it is none."""
        _check_kinds({"diverged": 0, "silent": 0, **plain}, RECORDED)
        _check_scores({"by_score": plain.get("by_score", {})})
        for numbers in (plain, *plain.get("earlier", ())):
            _check(numbers)
        surfaces = {view: Landscape(**one) for view, one in plain.get("surfaces", {}).items()}
        by_lambda = tuple(plain.get("by_lambda", ()))
        tallies = Tallies.from_plain(plain["tallies"]) if "tallies" in plain else None
        parts = {"made": Made(**plain["made"]), "by_lambda": by_lambda, "surfaces": surfaces, "tallies": tallies}
        return cls(**plain | parts)


def _check(numbers: Plain) -> None:
    """A record's own, or those in whose place it is."""
    _check_scores({name: numbers["readings"][name] for name in USED})
    _check_kinds(numbers["made"], MADE_OF)


def _check_kinds(plain: Plain, kinds: Mapping[str, type | tuple[type, ...]]) -> None:
    for key, kind in kinds.items():
        if not isinstance(plain[key], kind):
            raise TypeError(f"{key} cannot be {plain[key]!r}")


def _check_scores(readings: Plain) -> None:
    for name, over in readings.items():
        for metric, score in over.items():
            for key in ("mean", "std"):
                if not isinstance(score[key], (int, float, type(None))):
                    raise TypeError(f"{key} of {metric} ({name}) cannot be {score[key]!r}")


Records = Mapping[str, Sequence[Record]]
"""By cell, a record for each seed."""


def summaries(records: Records) -> dict[str, list[Plain]]:
    """What a table is made of."""
    return {cell: [record.summary for record in of_seeds] for cell, of_seeds in records.items()}


def of_seeds(found: Records, seeds: Collection[int] | None) -> Records:
    """Those with these seeds alone; all, if none are named."""
    if seeds is None:
        return found
    chosen = {cell: [record for record in every if record.seed in seeds] for cell, every in found.items()}
    return {cell: some for cell, some in chosen.items() if some}


def records(
    runs: Sequence[PlannedRun], out: Path, tell: Callable[[str], None] = lambda words: None
) -> dict[str, list[Record]]:
    """Those of all finished runs, in the order of ``runs``; ``tell`` hears of those whose files cannot be read."""
    found: dict[str, list[Record]] = {}
    for run, folder in states(runs, out, tell):
        if folder is None:
            continue
        try:
            of_run = _of_run(run, folder)
        except UserError as error:
            tell(str(error))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            what = f"{type(error).__name__}: {error}"
            tell(f"{folder.path}: its files cannot be read ({what}); remove {folder.path.parent} to have it made anew")
        else:
            for record in of_run:
                found.setdefault(record.cell, []).append(record)
    return found


def _of_run(run: PlannedRun, folder: RunFolder) -> list[Record]:
    """One for each of the cells that it serves."""
    summary, made = folder.summary(), Made.of(folder, run.cells[0].digest)
    if summary is None:
        raise UserError(f"{folder.summary_file}: is gone; remove {folder.path.parent} to have the run made anew")
    return [_of_cell(cell, run.config, folder, summary, made) for cell in run.cells]


def _of_cell(cell: Cell, config: RunConfig, folder: RunFolder, summary: Mapping[str, Any], made: Made) -> Record:
    figure, question = cell.table.startswith("figure"), cell.table == "questions"
    metrics = ACCURACY if figure or question else metrics_of(cell.id)
    line = summary["by_lambda"] if figure or (len(summary["by_lambda"]) > 1 and not question) else []
    return Record(
        cell=cell.id,
        seed=config.seed,
        num_clients=summary["num_clients"],
        readings={name: _brief(over, metrics) for name, over in summary["readings"].items()},
        made=made,
        by_lambda=tuple(_at(place, ACCURACY) for place in line),
        surfaces=surveyed(folder) if cell.table == "figureA" else {},
        tallies=Tallies.of(folder, config) if question else None,
        diverged=summary["diverged_updates"],
        silent=summary.get("silent_clients"),
        by_score=_rounded_all(best_by_score(folder, metrics)),
    )


def metrics_of(cell: str) -> list[str]:
    """Ours that stand beside what a table prints for a cell, and those of the printed names."""
    cell = place_of(cell) if cell.startswith(f"{PARTS}/") else cell
    table = cell.split("/")[0]
    printed = published().metrics(cell)
    return list(dict.fromkeys([*(published().beside(table, metric) for metric in printed), *printed]))


def _brief(over_clients: Mapping[str, Any], metrics: Sequence[str]) -> Plain:
    return {metric: {key: _rounded(over_clients[metric][key]) for key in ("mean", "std")} for metric in metrics}


def _rounded_all(scores: Plain) -> Plain:
    return {metric: {key: _rounded(value) for key, value in over.items()} for metric, over in scores.items()}


def _at(place: Mapping[str, Any], metrics: Sequence[str]) -> Plain:
    return {"lam": place["lam"]} | _brief(place, metrics)


def _rounded(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(f"{value:.{DIGITS}g}")
