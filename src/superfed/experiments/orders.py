"""A run that is to be computed, wherever that will be."""

from dataclasses import dataclass

from superfed.engine.task import Task
from superfed.experiments.schema import RunConfig
from superfed.store.layout import RunFolder


@dataclass(frozen=True)
class Order:
    """``title`` is what the run is called among those that are computed with it."""

    folder: RunFolder
    config: RunConfig
    task: Task
    title: str
