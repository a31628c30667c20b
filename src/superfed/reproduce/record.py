"""What a finished run says for one cell: all that tables and figures are made of, small enough to be kept for good."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from superfed.reproduce.best_by_score import BY_SCORE, best_by_score
from superfed.reproduce.cells import PlannedRun
from superfed.reproduce.landscape import Landscape
from superfed.reproduce.paper import Plain
from superfed.reproduce.parts import TARGET as PARTS
from superfed.reproduce.parts import place_of
from superfed.reproduce.provenance import Made
from superfed.reproduce.published import published
from superfed.reproduce.running import finished
from superfed.reproduce.surveys import surveyed
from superfed.reproduce.tallies import Tallies

DIGITS = 6
ACCURACY = ("top1",)
"""The metrics that figures and questions are about."""


@dataclass(frozen=True)
class Record:
    cell: str
    seed: int
    num_clients: int
    readings: Plain
    """By reading and metric: mean and standard deviation over clients."""
    made: Made
    by_lambda: Sequence[Plain] = ()
    """The same at each λ, for cells of figures."""
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
        """This one, which remembers the other, and what that one did, unless they are of the same run."""
        surfaces = {**other.surfaces, **self.surfaces}  # stored where the checkpoints may be gone by now
        known = [*other.earlier, {"readings": other.readings, "made": asdict(other.made)}]
        return replace(
            self, surfaces=surfaces, earlier=[one for one in known if one["made"]["began"] != self.made.began]
        )

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
        surfaces = {view: Landscape(**one) for view, one in plain.get("surfaces", {}).items()}
        by_lambda = tuple(plain.get("by_lambda", ()))
        tallies = Tallies.from_plain(plain["tallies"]) if "tallies" in plain else None
        parts = {"made": Made(**plain["made"]), "by_lambda": by_lambda, "surfaces": surfaces, "tallies": tallies}
        return cls(**plain | parts)


Records = Mapping[str, Sequence[Record]]
"""By cell, a record for each seed."""


def summaries(records: Records) -> dict[str, list[Plain]]:
    """What a table is made of."""
    return {cell: [record.summary for record in of_seeds] for cell, of_seeds in records.items()}


def records(runs: Sequence[PlannedRun], out: Path) -> dict[str, list[Record]]:
    """Those of all finished runs, in the order of ``runs``."""
    found: dict[str, list[Record]] = {}
    for run in runs:
        folder = finished(run, out)
        summary = None if folder is None else folder.summary()
        if folder is None or summary is None:
            continue
        made = Made.of(folder, run.cells[0].digest)
        for cell in run.cells:
            figure, question = cell.table.startswith("figure"), cell.table == "questions"
            metrics = ACCURACY if figure or question else metrics_of(cell.id)
            found.setdefault(cell.id, []).append(
                Record(
                    cell=cell.id,
                    seed=run.config.seed,
                    num_clients=summary["num_clients"],
                    readings={name: _brief(over, metrics) for name, over in summary["readings"].items()},
                    made=made,
                    by_lambda=tuple(_at(place, metrics) for place in summary["by_lambda"] if figure),
                    surfaces=surveyed(folder) if cell.table == "figureA" else {},
                    tallies=Tallies.of(folder, run.config) if question else None,
                    diverged=summary["diverged_updates"],
                    silent=summary.get("silent_clients"),
                    by_score=_rounded_all(best_by_score(folder, metrics)),
                )
            )
    return found


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
