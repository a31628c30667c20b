"""MLflow: a run for each run, below a parent for each experiment that has several."""

import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag
from mlflow.utils.mlflow_tags import MLFLOW_PARENT_RUN_ID

from superfed.tracking.followed import Experiment, Followed
from superfed.tracking.settings import MLflow
from superfed.tracking.values import of_summary

MOST_METRICS, MOST_PARAMS = 1000, 100  # that it takes at once
STATUSES = {"finished": "FINISHED", "stopped": "FAILED", "failed": "FAILED", "interrupted": "KILLED"}
FOLDER = "superfed.folder"
"""The tag by which an experiment's parent is found again."""


class MlflowRuns:
    def __init__(self, settings: MLflow, experiment: Experiment) -> None:
        uri, files = settings.uri or os.environ.get("MLFLOW_TRACKING_URI"), None
        if uri is None:
            home = experiment.place / "mlflow"
            uri, files = f"sqlite:///{_database(home)}", str(home / "artifacts")
        self._client = MlflowClient(tracking_uri=uri)
        self._where = self._find(settings.experiment or experiment.name, files)
        self._parent = self._find_parent(experiment.folder) if experiment.several else None
        self._ids: dict[str, str] = {}

    def begin(self, run: Followed, known: str | None) -> str:
        if known is None:
            parent = {} if self._parent is None else {MLFLOW_PARENT_RUN_ID: self._parent}
            known = str(self._client.create_run(self._where, run_name=run.name, tags=parent).info.run_id)
            params = [Param(key, str(value)) for key, value in run.settings.items()]
            for first in range(0, len(params), MOST_PARAMS):
                self._client.log_batch(known, params=params[first : first + MOST_PARAMS])
        self._client.update_run(known, status="RUNNING")
        self._client.log_batch(known, tags=[RunTag(key, value) for key, value in run.tags.items()])
        self._ids[run.name] = known
        return known

    def log(self, run: Followed, step: int, values: Mapping[str, float]) -> None:
        now = int(time.time() * 1000)
        metrics = [Metric(name, value, now, step) for name, value in values.items()]
        for first in range(0, len(metrics), MOST_METRICS):
            self._client.log_batch(self._ids[run.name], metrics=metrics[first : first + MOST_METRICS])

    def results(self, run: Followed, step: int) -> None:
        mine = self._ids[run.name]
        self.log(run, step, of_summary(run.summary()))
        self._client.log_table(mine, run.clients(), "clients.json")
        with tempfile.TemporaryDirectory() as folder:
            for path in (*run.files(), run.page(Path(folder))):
                self._client.log_artifact(mine, str(path))

    def end(self, run: Followed, status: str) -> None:
        self._client.set_terminated(self._ids.pop(run.name), STATUSES[status])

    def close(self) -> None:
        if self._parent is not None:
            self._client.set_terminated(self._parent)

    def _find(self, name: str, files: str | None) -> str:
        found = self._client.get_experiment_by_name(name)
        if found is not None:
            return str(found.experiment_id)
        return str(self._client.create_experiment(name, artifact_location=files))

    def _find_parent(self, folder: Path) -> str:
        place = str(folder.absolute())
        found = self._client.search_runs([self._where], f"tags.`{FOLDER}` = '{place.replace(chr(39), '')}'")
        if found:
            parent = str(found[0].info.run_id)
            self._client.update_run(parent, status="RUNNING")
            return parent
        tags = {FOLDER: place.replace("'", "")}
        return str(self._client.create_run(self._where, run_name=folder.name, tags=tags).info.run_id)


def _database(home: Path) -> Path:
    """MLflow's tables in a file, made in one move: half of them, as an interruption leaves, would never be of use."""
    path = home / "mlflow.db"
    if not path.exists():
        home.mkdir(parents=True, exist_ok=True)
        made = home / ".mlflow.db.part"
        made.unlink(missing_ok=True)
        MlflowClient(tracking_uri=f"sqlite:///{made}")
        made.replace(path)
    return path
