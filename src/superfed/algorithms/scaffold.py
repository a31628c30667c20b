"""SCAFFOLD: Karimireddy et al., Stochastic Controlled Averaging for Federated Learning, ICML 2020."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from superfed.core.algorithm import Algorithm, Cohort, Context, FirstModel, Phase
from superfed.core.batch import Batch
from superfed.core.errors import require
from superfed.core.state import State
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class Scaffold(Algorithm):
    """FedAvg whose clients correct their drift by control variates: ∇f(y) − c_i + c.

    x is the server's model, y the client's, c and c_i the server's and the client's variate (its Algorithm 1).
    """

    sends_changes: ClassVar[bool] = True

    option: Literal["I", "II"] = "II"  # how c_i⁺ is made: ∇f_i(x), or c_i − c + (x − y)/(Kη)
    server_lr: float = 1.0  # η_g
    weighting: Literal["samples", "uniform"] = "samples"  # clients count by n_i, or all the same as in its paper

    def __post_init__(self) -> None:
        require(self.option in ("I", "II"), "option", f"must be 'I' or 'II', not {self.option!r}")
        require(self.server_lr > 0, "server_lr", f"must be more than 0, not {self.server_lr}")
        known = ("samples", "uniform")
        require(self.weighting in known, "weighting", f"must be 'samples' or 'uniform', not {self.weighting!r}")

    @property
    def title(self) -> str:
        return "SCAFFOLD"

    def phases(self, local_epochs: int) -> tuple[Phase, ...]:
        train = Phase("train", local_epochs)
        return (train,) if self.option == "II" else (train, Phase("variate", 1))

    def init_server(self, fresh: Tensor, model: VectorModel) -> State:
        return {"w": fresh, "c": torch.zeros_like(fresh)}

    def init_client(self, first: FirstModel, model: VectorModel) -> State:
        return {"c": torch.zeros(model.size, dtype=model.dtype)}

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        x = sent["w"]
        zeros, nothing = torch.zeros_like(x), torch.zeros_like(ctx.sgd.lr)
        work = {"y": x, "velocity": zeros, "c_i": kept["c"]}
        if self.option == "I":
            return work | {"gradient_sum": zeros, "samples": nothing}
        return work | {"momentum_sum": nothing, "pull": nothing}

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        if ctx.phase == "variate":
            (gradient,) = ctx.gradients(lambda w: ctx.task_loss(w, batch), sent["w"])
            total = work["gradient_sum"] + batch.size * gradient
            return work | {"gradient_sum": total, "samples": work["samples"] + batch.size}
        (gradient,) = ctx.gradients(lambda w: ctx.task_loss(w, batch), work["y"])
        y, velocity = ctx.sgd(work["y"], gradient - work["c_i"] + sent["c"], work["velocity"])
        work = work | {"y": y, "velocity": velocity}
        if self.option == "I":
            return work
        # How much weight gradients have in x − y: η a step, and with momentum η (1 + β + β² …) for the earlier ones.
        momentum_sum = ctx.sgd.momentum * work["momentum_sum"] + 1
        return work | {"momentum_sum": momentum_sum, "pull": work["pull"] + ctx.sgd.lr * momentum_sum}

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        x, c, y, c_i = sent["w"], sent["c"], work["y"], work["c_i"]
        new_c = work["gradient_sum"] / work["samples"] if self.option == "I" else c_i - c + (x - y) / work["pull"]
        return {"c": new_c}, {"w": y - x, "c": new_c - c_i}

    def aggregate(self, server: State, uploads: State, cohort: Cohort) -> State:
        if self.weighting == "uniform":
            weights, everybody = torch.ones_like(cohort.samples), cohort.num_clients
        else:
            weights, everybody = cohort.samples, cohort.total_samples()
        share = float(weights.sum()) / everybody  # |S|/N
        change = {name: cohort.center(rows, weights, torch.zeros_like(rows[0])) for name, rows in uploads.items()}
        return {
            "w": server["w"] + self.server_lr * change["w"],
            "c": server["c"] + share * change["c"],
        }

    def personal_model(self, kept: State, sent: State, lam: Tensor, model: VectorModel) -> Tensor:
        return sent["w"]
