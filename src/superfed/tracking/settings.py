"""What may be said of each tracker."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class TensorBoard:
    """Event files that TensorBoard reads."""

    folder: str | None = None
    """Where its runs go, in a folder for each experiment; without it, the experiment's own."""


@dataclass(frozen=True)
class WeightsAndBiases:
    """Weights & Biases, on its server or in files to be uploaded later."""

    project: str = "superfed"
    """W&B's, in which the runs are."""
    entity: str | None = None
    """The user or team that owns the project; without it, the one of the API key."""
    mode: Literal["online", "offline"] | None = None
    """Without it, what WANDB_MODE says; else online where an API key is known, offline where none is."""
    folder: str | None = None
    """Where W&B makes its folder wandb; without it, the experiment's own."""


@dataclass(frozen=True)
class MLflow:
    """MLflow, in a database beside the runs or on a server."""

    uri: str | None = None
    """Without it, what MLFLOW_TRACKING_URI says; else a database in the experiment's folder."""
    experiment: str | None = None
    """MLflow's, in which the runs are; without it, the config's name."""


TrackerSettings = TensorBoard | WeightsAndBiases | MLflow

TRACKERS: dict[str, type] = {"tensorboard": TensorBoard, "wandb": WeightsAndBiases, "mlflow": MLflow}
