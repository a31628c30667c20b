"""A state is a flat dictionary of named tensors: what a client keeps, what travels, what the server holds."""

from collections.abc import Mapping

import torch
from torch import Tensor

State = dict[str, Tensor]


def num_bytes(state: Mapping[str, Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in state.values())


def is_finite(*states: Mapping[str, Tensor]) -> bool:
    return all(bool(torch.isfinite(t).all()) for state in states for t in state.values() if t.is_floating_point())


def moved(state: Mapping[str, Tensor], device: torch.device) -> State:
    return {name: t.to(device) for name, t in state.items()}


def stacked(states: list[State]) -> State:
    """One state whose tensors have a first dimension over ``states``, which all have the same names and shapes."""
    return {name: torch.stack([s[name] for s in states]) for name in states[0]} if states else {}


def row(state: Mapping[str, Tensor], index: int) -> State:
    """One state out of a stack; a copy, so that the stack can go."""
    return {name: t[index].clone() for name, t in state.items()}
