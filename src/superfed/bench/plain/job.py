"""What a plain loop is given, and the few lines that all of them share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Parts = list[Tensor]
"""What the engine has as one vector: a tensor per parameter."""


@dataclass(frozen=True)
class Job:
    """One client's local update. Everything lies on the device already."""

    networks: tuple[nn.Module, nn.Module]
    """Two modules of the client's own; most methods need one."""
    sent: Mapping[str, Parts]
    kept: Mapping[str, Parts]
    x: Tensor
    y: Tensor
    rows: Mapping[str, Sequence[Tensor]]
    """The samples of each mini-batch, by phase."""
    lambdas: Sequence[Sequence[float]]
    """What was drawn for each step of the first phase: one number, or one per layer."""
    lr: float
    momentum: float
    weight_decay: float

    def batches(self, phase: str) -> Iterator[tuple[Tensor, Tensor]]:
        for rows in self.rows[phase]:
            yield self.x[rows], self.y[rows]

    def sgd(self, *parameters: nn.Parameter) -> torch.optim.SGD:
        return torch.optim.SGD(parameters, self.lr, self.momentum, weight_decay=self.weight_decay)


@dataclass(frozen=True)
class Outcome:
    """What the client keeps, and what it uploads."""

    kept: Mapping[str, Parts]
    upload: Mapping[str, Parts]


def load(module: nn.Module, values: Iterable[Tensor]) -> None:
    with torch.no_grad():
        for parameter, value in zip(module.parameters(), values, strict=True):
            parameter.copy_(value)


def parts(module: nn.Module) -> Parts:
    return [parameter.detach() for parameter in module.parameters()]


def descend(loss: Tensor, *optimisers: torch.optim.Optimizer) -> None:
    for optimiser in optimisers:
        optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    for optimiser in optimisers:
        optimiser.step()


def squared_distance(module: nn.Module, anchor: Iterable[Tensor]) -> Tensor:
    """‖w − anchor‖²"""
    pairs = zip(module.parameters(), anchor, strict=True)
    return torch.stack([(p - a).pow(2).sum() for p, a in pairs]).sum()


def fit(job: Job, network: nn.Module, phase: str, pull: float = 0.0, anchor: Parts | None = None) -> None:
    """SGD on those parameters that require a gradient: f(w), and where there is an anchor pull/2 ‖w − anchor‖²."""
    optimiser = job.sgd(*(p for p in network.parameters() if p.requires_grad))
    for x, y in job.batches(phase):
        loss = F.cross_entropy(network(x), y)
        descend(loss if anchor is None else loss + pull / 2 * squared_distance(network, anchor), optimiser)
