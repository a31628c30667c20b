"""Whether a client's steps may be taken by a fused implementation, and on what network."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from superfed.core.batch import Batch
from superfed.core.flat import FlatNetwork, flat_loss
from superfed.core.fused import prepare_fused
from superfed.core.vector import VectorModel
from superfed.engine.task import Task

CPU = torch.device("cpu")
_NETWORKS: "WeakKeyDictionary[VectorModel, FlatNetwork]" = WeakKeyDictionary()


def may_fuse(device: torch.device) -> bool:
    """On a CPU, where numba is, unless the environment says SUPERFED_FUSED=0."""
    return device.type == "cpu" and _wanted()


def prepare(tasks: Sequence[Task]) -> None:
    """What fused updates need once for all processes."""
    for task in tasks:
        if may_fuse(CPU):
            prepare_fused(task.algorithm, task.model.dtype)


def flat_network(model: VectorModel) -> FlatNetwork:
    """One for each model and process, kept as long as the model is."""
    if model not in _NETWORKS:
        _NETWORKS[model] = FlatNetwork(model)
    return _NETWORKS[model]


def flat_loss_of(model: VectorModel) -> Callable[[Tensor, Batch], Tensor]:
    """The loss for one client on a CPU, without passing parameters one by one."""
    network = flat_network(model)
    return lambda w, batch: flat_loss(network, w, batch.x, batch.y)


@cache
def _wanted() -> bool:
    if os.environ.get("SUPERFED_FUSED", "1") == "0":
        return False
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True
