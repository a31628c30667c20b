"""Where things lie. An experiment is a folder with a folder for each of its runs.

EXPERIMENT/
  experiment.json    schema, name, when and with which command and data root it was started, its runs
  config.yaml        the config as given, lists and all
  RUN/
    run.json         schema, title, status, versions, hardware, data fingerprint
    config.yaml      this run's resolved config
    names.json       what classes and clients are called, where they have names
    rounds.parquet   a row per round: rate, cohort, who diverged, samples, bytes
    curve.parquet    a row per evaluation during training and λ
    clients.parquet  a row per client, λ and split: the final metrics
    holdings.parquet a row per client that is evaluated: its samples, by part and by class
    readings.parquet a row per client and reading: the λ it chose and the test metrics there
    bins.parquet     a row per bin of confidence: each client's at its validated λ, and everybody's at every λ
    summary.json     the readings over clients
    timing.json      seconds spent, by phase
    failure.txt      where in the program a run failed, while it is not taken up again
    checkpoints/     safetensors and manifests
"""

from pathlib import Path
from typing import Any

import yaml

from superfed.core.errors import UserError
from superfed.store.files import read_json, write_json, write_text

SCHEMA = 1
LOCK = ".lock"
"""In an experiment's folder, while somebody works on it and after."""


class RunFolder:
    """One run's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rounds = path / "rounds.parquet"
        self.curve = path / "curve.parquet"
        self.clients = path / "clients.parquet"
        self.readings = path / "readings.parquet"
        self.bins = path / "bins.parquet"
        self.holdings = path / "holdings.parquet"
        self.newcomers = path / "newcomers.parquet"
        self.summary_file = path / "summary.json"
        self.names_file = path / "names.json"
        self.timing_file = path / "timing.json"
        self.failure_file = path / "failure.txt"
        self.checkpoints = path / "checkpoints"

    @property
    def name(self) -> str:
        return self.path.name

    def write_info(self, info: dict[str, Any]) -> None:
        write_json(self.path / "run.json", {"schema": SCHEMA, **info})

    def info(self) -> dict[str, Any]:
        return _checked(self.path / "run.json", "status")

    def exists(self) -> bool:
        return (self.path / "run.json").exists()

    def has_results(self) -> bool:
        """Whether the run came to an end, its last round's or an early one, and was evaluated."""
        return self.exists() and self.info()["status"] in ("finished", "stopped")

    def write_config(self, config: dict[str, Any]) -> None:
        write_text(self.path / "config.yaml", as_yaml(config))

    def config(self) -> dict[str, Any]:
        return read_yaml(self.path / "config.yaml")

    def summary(self) -> dict[str, Any] | None:
        """The final results, or None while there are none."""
        return read_json(self.summary_file) if self.summary_file.exists() else None


class ExperimentFolder:
    """An experiment's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write_info(self, info: dict[str, Any], config: dict[str, Any]) -> None:
        write_json(self.path / "experiment.json", {"schema": SCHEMA, **info, "config": config})
        self.complete()

    def complete(self) -> None:
        """Write the config where it is missing, as after a writer that was killed between its two files."""
        if not (self.path / "config.yaml").exists():
            write_text(self.path / "config.yaml", as_yaml(self.info()["config"]))

    def info(self) -> dict[str, Any]:
        return _checked(self.path / "experiment.json", "config", "runs")

    def is_free(self) -> bool:
        """Whether a new experiment may begin here: nothing is there, or only what a writer killed at once left behind."""
        if not self.path.is_dir():
            return not self.path.exists()
        return all(p.name.endswith(".part") or p.name == LOCK for p in self.path.iterdir())

    def run(self, name: str) -> RunFolder:
        return RunFolder(self.path / name)

    def runs(self) -> list[RunFolder]:
        return [self.run(name) for name in self.info()["runs"]]


def find_runs(path: Path) -> list[RunFolder]:
    """The runs at ``path``, which is a run's folder or an experiment's."""
    if (path / "run.json").exists():
        return [RunFolder(path.resolve())]  # '.' has neither name nor parent
    if (path / "experiment.json").exists():
        return ExperimentFolder(path).runs()
    if not path.exists():
        raise UserError(f"{path}: there is no such folder")
    raise UserError(f"{path}: is no run and no experiment (it holds neither run.json nor experiment.json)")


def find_experiment(path: Path) -> tuple[ExperimentFolder, list[str]]:
    """The experiment at ``path``, or around the run at ``path``, and the names of the runs meant."""
    runs = find_runs(path)
    folder = ExperimentFolder(runs[0].path.parent)
    return folder, [run.name for run in runs]


def as_yaml(config: dict[str, Any]) -> str:
    return yaml.safe_dump(config, sort_keys=False, allow_unicode=True)


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path}: there is no such file") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{path}: cannot be read as YAML ({error})") from error
    if not isinstance(value, dict):
        raise UserError(f"{path}: holds no settings")
    return value


def _checked(path: Path, *keys: str) -> dict[str, Any]:
    info: dict[str, Any] = read_json(path)
    if not isinstance(info, dict):
        raise UserError(f"{path}: cannot be read (it holds no mapping)")
    if info.get("schema") != SCHEMA:
        raise UserError(f"{path}: has schema {info.get('schema')}, and this program reads schema {SCHEMA}")
    for key in keys:
        if key not in info:
            raise UserError(f"{path}: cannot be read (it has no '{key}')")
    return info
