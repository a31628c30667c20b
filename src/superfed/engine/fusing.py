"""Whether a client's steps may be taken by quicker implementations, and on what network."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from superfed.core.algorithm import Context
from superfed.core.flat import FlatEvaluation, FlatNetwork, FlatTask
from superfed.core.fused import prepare_fused
from superfed.core.loops import compile_loops, loops
from superfed.core.sgd import SGD
from superfed.core.vector import VectorModel
from superfed.engine.task import Task

CPU = torch.device("cpu")
_NETWORKS: "WeakKeyDictionary[VectorModel, FlatNetwork]" = WeakKeyDictionary()
_EVALUATIONS: "WeakKeyDictionary[VectorModel, FlatEvaluation]" = WeakKeyDictionary()


def may_fuse(device: torch.device, dtype: torch.dtype) -> bool:
    """On a CPU, where numba is, in a precision that it knows, unless the environment says SUPERFED_FUSED=0."""
    return device.type == "cpu" and dtype in (torch.float32, torch.float64) and _wanted()


def prepare(tasks: Sequence[Task]) -> None:
    """What fused updates need once for all processes."""
    for task in tasks:
        if may_fuse(CPU, task.model.dtype):
            compile_loops(task.model.dtype)
            prepare_fused(task.algorithm, task.model.dtype)


def flat_network(model: VectorModel) -> FlatNetwork:
    """One for each model and process, kept as long as the model is."""
    if model not in _NETWORKS:
        _NETWORKS[model] = FlatNetwork(model, loops() if may_fuse(CPU, model.dtype) else None)
    return _NETWORKS[model]


def evaluating(model: VectorModel, device: torch.device) -> Callable[[Tensor, Tensor], Tensor]:
    """What gives the outputs of a vector's network for inputs; for as long as nobody else asks for it."""
    if device.type != "cpu":
        return model.apply
    if model not in _EVALUATIONS:
        _EVALUATIONS[model] = FlatEvaluation(model)
    return _EVALUATIONS[model]


def quicker(ctx: Context) -> Context:
    """What ``step`` is given, with quicker ways to the same numbers for one client on a CPU, whatever the method."""
    task = FlatTask(flat_network(ctx.model))
    ctx = replace(ctx, gradients=task.gradients, loss=task.loss)
    if not may_fuse(CPU, ctx.model.dtype):
        return ctx
    return replace(ctx, sgd=OnePassSGD(ctx.sgd.lr, ctx.sgd.momentum, ctx.sgd.weight_decay))


class OnePassSGD(SGD):
    """The same numbers in one pass over the parameters, for ordinary vectors that autograd does not follow."""

    def __call__(self, w: Tensor, gradient: Tensor, velocity: Tensor) -> tuple[Tensor, Tensor]:
        vectors = (w, gradient, velocity)
        if any(v.requires_grad or v.dim() != 1 or v.dtype != self.lr.dtype or not v.is_contiguous() for v in vectors):
            return super().__call__(*vectors)
        new = torch.empty_like(w), torch.empty_like(velocity)
        number = w.numpy().dtype.type
        rates = [number(rate) for rate in (self.lr, self.momentum, self.weight_decay)]
        loops().sgd(*[v.numpy() for v in (*vectors, *new)], *rates)
        return new


@cache
def _wanted() -> bool:
    if os.environ.get("SUPERFED_FUSED", "1") == "0":
        return False
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True
