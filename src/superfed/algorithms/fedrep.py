"""FedRep: Collins et al., Exploiting Shared Representations for Personalized Federated Learning, ICML 2021."""

from dataclasses import dataclass

import torch
from torch import Tensor

from superfed.algorithms.fedper import FedPer
from superfed.core.algorithm import Context, Phase
from superfed.core.batch import Batch
from superfed.core.errors import require
from superfed.core.state import State


@dataclass(frozen=True)
class FedRep(FedPer):
    """The body is shared and the head is each client's own; the head is trained first, then the body."""

    head_epochs: int | None = None  # with the body fixed; without it, the run's local epochs
    body_epochs: int = 1  # with the head fixed

    def __post_init__(self) -> None:
        require(self.head_epochs is None or self.head_epochs >= 0, "head_epochs", "must be 0 or more")
        require(self.body_epochs >= 0, "body_epochs", f"must be 0 or more, not {self.body_epochs}")

    def phases(self, local_epochs: int) -> tuple[Phase, ...]:
        head_epochs = local_epochs if self.head_epochs is None else self.head_epochs
        return (Phase("head", head_epochs), Phase("body", self.body_epochs))

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        body, head = sent["w"], kept["head"]
        return {
            "body": body,
            "head": head,
            "velocity_body": torch.zeros_like(body),
            "velocity_head": torch.zeros_like(head),
        }

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        part, velocity = ctx.phase, f"velocity_{ctx.phase}"

        def objective(values: Tensor) -> Tensor:
            parts = work | {part: values}
            return ctx.task_loss((parts["body"], parts["head"]), batch)

        (gradient,) = ctx.gradients(objective, work[part])
        moved, speed = ctx.sgd(work[part], gradient, work[velocity])
        return work | {part: moved, velocity: speed}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        return {"head": work["head"]}, {"w": work["body"]}
