"""Second, quicker implementations of a method's steps, where it has one: the same numbers up to rounding.

A method's file stays its definition. What is registered here takes all steps of one phase of one client in a row, on the
CPU, and is found by the ``step`` function that it stands in for: who overrides ``step`` is served by the plain one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from superfed.core.algorithm import Algorithm
from superfed.core.flat import FlatNetwork, picked
from superfed.core.state import State


@dataclass(frozen=True)
class Steps:
    """The steps of a phase: each one's samples, the noise drawn for it, and the numbers that all share."""

    x: Tensor
    y: Tensor
    rows: Sequence[Tensor]
    noise: Mapping[str, Tensor]
    lr: float
    momentum: float
    weight_decay: float
    round: Mapping[str, float]

    def batch(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        return picked(self.x, rows), self.y.index_select(0, rows)


class Fused(Protocol):
    """Takes a client's working state through a phase; the states given are left as they are."""

    def __call__(self, network: FlatNetwork, work: State, sent: State, steps: Steps) -> State: ...


Maker = Callable[[Any, str], Fused | None]
"""From a method and the name of a phase, its fused phase, if this method has one there."""


class _Registered(NamedTuple):
    maker: Maker
    prepare: Callable[[torch.dtype], None]


_REGISTRY: dict[object, _Registered] = {}


def register_fused(step: Callable[..., State], maker: Maker, prepare: Callable[[torch.dtype], None]) -> None:
    """Have ``maker`` stand in for ``step``; ``prepare`` does what need be done only once, before processes are forked."""
    _REGISTRY[step] = _Registered(maker, prepare)


def fused_phase(method: Algorithm, phase: str) -> Fused | None:
    """What may stand in for the steps of ``phase``, if anything may."""
    registered = _REGISTRY.get(type(method).step)
    return None if registered is None else registered.maker(method, phase)


def prepare_fused(method: Algorithm, dtype: torch.dtype) -> None:
    registered = _REGISTRY.get(type(method).step)
    if registered is not None:
        registered.prepare(dtype)
