"""What a client and the server exchange in a round, counted from what a method really sends."""

from dataclasses import dataclass, replace

from superfed.core.state import num_bytes
from superfed.engine.local import local_update
from superfed.engine.task import Task


@dataclass(frozen=True)
class Traffic:
    """Bytes for one client in one round, and the same as shares of the whole model."""

    title: str
    down: int
    up: int
    model: int

    @property
    def down_share(self) -> float:
        return self.down / self.model

    @property
    def up_share(self) -> float:
        return self.up / self.model


def traffic_of(task: Task) -> Traffic:
    """Counted on a real update of one client, of one epoch."""
    sent = task.algorithm.broadcast(task.init_server(), task.model)
    short = replace(task, schedule=replace(task.schedule, local_epochs=1))
    update = local_update(short, 0, 0, task.init_client(0), sent)
    whole = task.model.size * task.model.dtype.itemsize
    return Traffic(task.algorithm.title, num_bytes(sent), num_bytes(update.upload), whole)
