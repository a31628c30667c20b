"""What a client gets by training for itself alone: fine-tuning before evaluation, and newcomers."""

from dataclasses import replace

import torch

from superfed.core.state import State, stacked
from superfed.engine.local import CPU, local_update
from superfed.engine.task import Task


def on_its_own(task: Task, epochs: int) -> Task:
    """The task of a client that trains for itself alone."""
    return replace(task, schedule=replace(task.schedule, local_epochs=epochs, lr_decay=1.0))


def adapt(
    task: Task, client: int, kept: State, server: State, epochs: int, device: torch.device = CPU
) -> tuple[State, State]:
    """What ``client`` keeps, and the server's state as it is for this client, after ``epochs`` of the method's own rule.

    It takes part, after the last round, in one of its own: the server that aggregates nobody else's upload is its alone.
    The rate is the first round's, because after hundreds of rounds of decay nothing would move.
    """
    alone = on_its_own(task, epochs)
    sent = task.algorithm.broadcast(server, task.model)
    update = local_update(alone, client, task.schedule.rounds, kept, sent, device)
    own_server = task.aggregate(server, stacked([update.upload]), [client]) if update.upload else server
    return update.kept, own_server
