"""Run folders, read. One that is not finished, or cannot be read, is named and set aside rather than fatal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from superfed.core.errors import UserError
from superfed.report.readings import NAMES, OWN
from superfed.store.layout import RunFolder
from superfed.store.tables import read_table


class Unfinished(NamedTuple):
    """A run without results, and how far it has come, if that is known."""

    name: str
    status: str
    rounds: int | None


@dataclass(frozen=True)
class Finished:
    """A run with results."""

    folder: RunFolder
    info: dict[str, Any]
    config: dict[str, Any]
    summary: dict[str, Any]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def title(self) -> str:
        return str(self.info.get("title", self.name))

    @property
    def method(self) -> str:
        """Title and name: rows with the same are variants of one method."""
        algorithm = self.config.get("algorithm")
        return f"{self.title} {algorithm.get('name') if isinstance(algorithm, dict) else algorithm}"

    @property
    def seed(self) -> int:
        return int(self.config.get("seed", 0))

    @property
    def status(self) -> str:
        return str(self.info.get("status", "unknown"))


def load(runs: Sequence[RunFolder]) -> tuple[list[Finished], list[Unfinished]]:
    """The runs with results, of which there must be one, and those without; each folder once."""
    finished, unfinished, problem = read(runs)
    if not finished:
        raise UserError(_why_nothing(unfinished, problem))
    return finished, unfinished


def read(runs: Sequence[RunFolder]) -> tuple[list[Finished], list[Unfinished], UserError | None]:
    """As ``load``, whether there are any or not; and what was wrong with the first that cannot be read."""
    finished: list[Finished] = []
    unfinished: list[Unfinished] = []
    problem = None
    for folder in {run.path.resolve(): run for run in runs}.values():
        try:
            loaded = _load(folder)
        except UserError as error:
            problem = problem or error
            unfinished.append(Unfinished(folder.name, "unreadable", None))
            continue
        if isinstance(loaded, Finished):
            finished.append(loaded)
        else:
            unfinished.append(loaded)
    return finished, unfinished, problem


def _load(folder: RunFolder) -> Finished | Unfinished:
    info = folder.info()
    summary = folder.summary()
    if summary is None:
        return Unfinished(folder.name, str(info.get("status", "unknown")), _rounds_done(folder))
    try:
        _check(summary)
    except (KeyError, IndexError, TypeError) as error:
        raise UserError(f"{folder.summary_file}: lacks {error}; evaluate the run anew") from error
    return Finished(folder, info, folder.config(), summary)


def _check(summary: dict[str, Any]) -> None:
    """Touch what the comparison will ask for."""
    _check_readings(summary["readings"])
    headline = summary["readings"][NAMES[0]]
    _ = [headline[metric]["mean"] for metric in ("top5", "loss", "ece", "mce")], headline["top1"]["worst10"]
    _ = [(point["lam"], point["top1"]["mean"], point["top1"]["std"]) for point in summary["by_lambda"]]
    _ = [summary[key] for key in ("num_clients", "bytes_up", "bytes_down", "diverged_updates", "never_sampled")]
    newcomers = summary.get("newcomers")
    if newcomers is not None:
        _ = newcomers["num_clients"], newcomers["epochs"]
        _check_readings(newcomers["adapted"])
        if newcomers["arriving"] is not None:
            _ = newcomers["arriving"]["top1"]["mean"], newcomers["arriving"]["top1"]["std"]


def _check_readings(readings: dict[str, Any]) -> None:
    for name in [*NAMES, OWN.name] if OWN.name in readings else NAMES:
        _ = readings[name]["lam"], readings[name]["top1"]["mean"], readings[name]["top1"]["std"]


def _rounds_done(folder: RunFolder) -> int | None:
    """Rounds are on disk since the last checkpoint; before the first there are none to count."""
    try:
        return len(read_table(folder.rounds).get("round", []))
    except UserError:
        return None


def _why_nothing(unfinished: Sequence[Unfinished], problem: UserError | None) -> str:
    if not unfinished:
        return "there are no runs to compare"
    if problem is not None:
        return f"none of the {len(unfinished)} runs can be compared: {problem}"
    rounds = max(run.rounds or 0 for run in unfinished)
    if len(unfinished) == 1:
        return f"{unfinished[0].name}: has no results to show yet, after {rounds} rounds; finish it first"
    return f"none of the {len(unfinished)} runs has results to compare yet, after at most {rounds} rounds"
