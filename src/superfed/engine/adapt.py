"""What a client gets by training for itself alone: fine-tuning before evaluation, and newcomers."""

from dataclasses import replace

import torch

from superfed.core.state import State, stacked
from superfed.engine.lanes import Lane
from superfed.engine.local import CPU, Update, local_update
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
    sent = task.algorithm.broadcast(server, task.model)
    update = local_update(on_its_own(task, epochs), client, task.schedule.rounds, kept, sent, device)
    return update.kept, own_server(task, client, server, update)


def own_server(task: Task, client: int, server: State, update: Update) -> State:
    """The server as it would be after a round of this client alone."""
    return task.aggregate(server, stacked([update.upload]), [client]) if update.upload else server


def adapting_lane(lane: Lane, epochs: int) -> Lane:
    """For a lane that carries the server's whole state: the local update that ``adapt`` makes."""
    task = lane.task
    sent = task.algorithm.broadcast(lane.sent, task.model)
    return replace(lane, task=on_its_own(task, epochs), round=task.schedule.rounds, sent=sent)
