"""Where a run's numbers come from: when, with what and on what they were computed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from superfed.reproduce.paper import Plain
from superfed.store.files import read_json
from superfed.store.layout import ExperimentFolder, RunFolder

COMMIT = "commit"
"""Under versions: that of the program's source, where a run was made from a checkout."""


@dataclass(frozen=True)
class Made:
    """How a run was made, in what a reader of its numbers may ask for."""

    folder: str
    """``EXPERIMENT/RUN``, where runs lie."""
    began: str
    seconds: float
    """Of computing, all phases together."""
    settings: str
    """The digest of what the run was told, as in its folder's name."""
    data: str
    """The fingerprint of its data."""
    engine: Plain
    """How it was computed, as far as it was said."""
    versions: Plain
    hardware: Plain
    stopped: str | None
    """Why it ended before its last round, if it did."""

    @classmethod
    def of(cls, run: RunFolder, digest: str) -> "Made":
        info, experiment = run.info(), ExperimentFolder(run.path.parent).info()
        spent: dict[str, float] = read_json(run.timing_file) if run.timing_file.exists() else {}
        return cls(
            folder=f"{run.path.parent.name}/{run.name}",
            began=experiment["created"],
            seconds=round(sum(spent.values()), 1),
            settings=digest,
            data=info["fingerprint"],
            engine=experiment["config"].get("engine", {}),
            versions=info["versions"],
            hardware=info.get("hardware", {}),
            stopped=info.get("reason") if info["status"] == "stopped" else None,
        )

    @property
    def machine(self) -> str:
        """``NVIDIA H200, 16 cores, Linux x86_64``."""
        device = str(self.hardware.get("device", "unknown"))
        around = [f"{self.hardware[key]}" for key in ("system", "machine") if key in self.hardware]
        cores = f"{self.hardware['cores']} cores" if "cores" in self.hardware else ""
        return ", ".join(part for part in ("CPU" if device == "cpu" else device, cores, " ".join(around)) if part)

    @property
    def software(self) -> str:
        """``superfed 0.1.0, torch 2.11.0, Python 3.11.7``, with the precision where it is not the usual one."""
        named = [f"{name} {self.versions[name]}" for name in ("superfed", "torch") if name in self.versions]
        python = [f"Python {self.versions['python']}"] if "python" in self.versions else []
        precision = [str(self.engine["precision"])] if self.engine.get("precision", "float32") != "float32" else []
        return ", ".join([*named, *python, *precision])


@dataclass(frozen=True)
class Place:
    """A machine with its software, and what was computed there."""

    machine: str
    software: str
    runs: int
    seconds: float
    first: str
    last: str
    """The days on which its first and its last run began."""


def places(every: Iterable[Made]) -> list[Place]:
    """Where runs were computed, a run that serves several cells once."""
    by_place: dict[tuple[str, str], dict[str, Made]] = {}
    for made in every:
        by_place.setdefault((made.machine, made.software), {})[made.folder] = made
    found = []
    for (machine, software), runs in by_place.items():
        days = sorted(made.began[:10] for made in runs.values())
        seconds = sum(made.seconds for made in runs.values())
        found.append(Place(machine, software, len(runs), seconds, days[0], days[-1]))
    return found


PLACES = ("machine", "software", "runs", "computed for", "begun")


def place_cells(place: Place) -> tuple[str, ...]:
    begun = place.first if place.first == place.last else f"{place.first} to {place.last}"
    return place.machine, place.software, f"{place.runs}", duration(place.seconds), begun


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.1f} h"


def facts(made: Made) -> dict[str, Any]:
    """By name, in words, for whoever asks how a number came about."""
    return {
        "begun": made.began,
        "computed for": duration(made.seconds),
        **({"stopped": made.stopped} if made.stopped else {}),
        "machine": made.machine,
        "versions": ", ".join(f"{name} {number}" for name, number in made.versions.items() if name != COMMIT),
        **({COMMIT: made.versions[COMMIT]} if COMMIT in made.versions else {}),
        "data": made.data,
        "settings": made.settings,
    }
