"""What a method sends and uploads: names, shapes and types, found without any data."""

import torch

from superfed.core.algorithm import Context, autograd_gradients
from superfed.core.sgd import SGD
from superfed.core.state import State
from superfed.deploy.flower.wire.arrays import Template, template_of
from superfed.engine.task import Task


def sent_template(task: Task) -> Template:
    """Of what the server sends to a site that trains."""
    return template_of(task.algorithm.broadcast(task.init_server(), task.model))


def server_template(task: Task) -> Template:
    """Of the server's whole state, which is sent for an evaluation."""
    return template_of(task.init_server())


def upload_template(task: Task) -> Template:
    """Of what a site uploads: that of an update in which no step was taken."""

    def scalars(values: dict[str, float]) -> State:
        return {name: torch.tensor(value, dtype=task.model.dtype) for name, value in values.items()}

    method = task.algorithm.with_lane_values(scalars(task.algorithm.lane_values()))
    sgd, round_values = SGD(**scalars(task.sgd_values(0))), scalars(dict(task.round_values(0)))
    ctx = Context(task.model, sgd, autograd_gradients, "", round_values, {})
    sent, kept = task.algorithm.broadcast(task.init_server(), task.model), task.init_client(0)
    with torch.no_grad():
        _, upload = method.finish(method.begin(kept, sent, ctx), kept, sent, ctx)
    return template_of(upload)
