"""A state is a flat dictionary of named tensors: what a client keeps, what travels, what the server holds."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

State = dict[str, Tensor]


def num_bytes(state: Mapping[str, Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in state.values())


def is_finite(*states: Mapping[str, Tensor]) -> bool:
    return are_finite([states])[0]


def are_finite(groups: Sequence[Sequence[Mapping[str, Tensor]]]) -> list[bool]:
    """Whether all numbers of each group's states are finite. A device is waited for once, and not for every tensor."""
    asked: dict[torch.device, list[tuple[int, Tensor]]] = {}
    for place, states in enumerate(groups):
        for t in (t for state in states for t in state.values() if t.is_floating_point()):
            asked.setdefault(t.device, []).append((place, torch.isfinite(t).all()))
    finite = [True] * len(groups)
    for answers in asked.values():
        for (place, _), fine in zip(answers, torch.stack([one for _, one in answers]).tolist(), strict=True):
            finite[place] &= fine
    return finite


def moved(state: Mapping[str, Tensor], device: torch.device) -> State:
    return {name: t.to(device) for name, t in state.items()}


def stacked(states: list[State]) -> State:
    """One state whose tensors have a first dimension over ``states``, which all have the same names and shapes."""
    return {name: torch.stack([s[name] for s in states]) for name in states[0]} if states else {}


def row(state: Mapping[str, Tensor], index: int) -> State:
    """One state out of a stack; a copy, so that the stack can go."""
    return {name: t[index].clone() for name, t in state.items()}
