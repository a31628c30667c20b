"""A finished run in Python, whether it was trained here or read from its folder: its clients and their models."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from superfed.core.errors import SettingError, UserError
from superfed.core.state import State, moved
from superfed.data.preprocessing import Preprocessing
from superfed.engine.adapt import adapt
from superfed.engine.evaluate import evaluate_client
from superfed.engine.local import CPU
from superfed.engine.simulation import Run
from superfed.engine.task import Task
from superfed.experiments.results import HEADLINE, Results
from superfed.experiments.schema import RunConfig
from superfed.experiments.shown import Fact, Shown
from superfed.experiments.subspace import Subspace
from superfed.report.numbers import NOTHING, percent


class FittedRun(Shown):
    """A finished run."""

    def __init__(self, run: Run, results: Results, config: RunConfig | None = None) -> None:
        self._run = run
        self._results = results
        self.config = config
        """The resolved config, where the run was read from a folder."""

    @property
    def task(self) -> Task:
        """What was trained: method, model, data and schedule."""
        return self._run.task

    @property
    def num_clients(self) -> int:
        return self.task.data.num_clients

    @property
    def class_names(self) -> Sequence[str] | None:
        """What the classes are called, by their numbers; None where labels were numbers. Classes that only the network
        knows have no name."""
        names: Sequence[str] | None = getattr(self.task.data, "class_names", None)
        return names

    @property
    def client_names(self) -> Sequence[str] | None:
        """What the clients are called, by their numbers; None where they have no names."""
        names: Sequence[str] | None = getattr(self.task.data, "client_names", None)
        return names

    @property
    def members(self) -> Sequence[int]:
        """The numbers of the clients that may have trained: all but newcomers."""
        return self.task.members

    @cached_property
    def preprocessing(self) -> Preprocessing:
        """What becomes of raw inputs before the network sees them."""
        return Preprocessing.of(self.task.data, self.task.model.dtype)

    @property
    def accuracy(self) -> float:
        """Mean test accuracy over clients, each at the λ it chose on its own validation samples."""
        mean = self.summary()["readings"][HEADLINE]["top1"]["mean"]
        return float("nan") if mean is None else float(mean)

    def client(self, which: int | str) -> "FittedClient":
        """A client by its number or by its name."""
        index = self._number_of(which) if isinstance(which, str) else which
        if not 0 <= index < self.num_clients:
            raise UserError(f"client {index}: there are {self.num_clients} clients, from 0 to {self.num_clients - 1}")
        if index in self.task.newcomer_clients:
            raise UserError(
                f"client {index}: was kept from training (data.newcomers) and has no model; superfed onboard trains one"
            )
        return FittedClient(self, index)

    def global_weights(self) -> Tensor:
        """The global model as one vector."""
        w = self.task.algorithm.global_model(self._run.server)
        if w is None:
            title = self.task.algorithm.title
            raise UserError(f"{title} has no global model: its server holds a part of one, or none")
        return w.cpu()

    def global_model(self) -> nn.Module:
        """The global model: where a client that never took part may start."""
        return self.task.model.module(self.global_weights())

    def summary(self) -> dict[str, Any]:
        """Every reading of λ over clients: mean, spread, worst tenth, for every metric."""
        return self._results.summary(self._run.records)

    def results_of(self, index: int) -> Results:
        """Those of the final evaluation; a client that was not among the evaluated is evaluated now."""
        if index in self._evaluated:
            return self._results
        lambdas = self._results.lambdas
        return Results([index], [evaluate_client(self.task, index, *self.states_of(index), lambdas)])

    def states_of(self, index: int) -> tuple[State, State]:
        """What the client keeps, and the server's state, after the training for itself alone that the run ends with."""
        stored = self._run.states.get(index)
        kept = self.task.init_client(index) if stored is None else moved(stored, CPU)
        server, epochs = moved(self._run.server, CPU), self.task.final_epochs
        return adapt(self.task, index, kept, server, epochs) if epochs > 0 else (kept, server)

    @cached_property
    def _evaluated(self) -> frozenset[int]:
        return frozenset(self._results.clients)

    def _number_of(self, name: str) -> int:
        names = self.client_names
        if names is not None and name in names:
            return names.index(name)
        if name.isdecimal():
            return int(name)
        if names is None:
            raise UserError(f"client '{name}': the clients of this run have no names; give a number")
        shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        raise UserError(f"client '{name}': there is none of this name; there are {shown}")

    def _heading(self) -> str:
        return f"a run of {self.task.algorithm.title}"

    def _facts(self) -> Sequence[Fact]:
        return [
            ("clients", f"{self.num_clients}"),
            ("classes", f"{self.task.data.num_classes}"),
            ("rounds", f"{self._run.round}"),
            ("accuracy in %", percent(self.accuracy)),
        ]


class FittedClient(Shown):
    """One client of a finished run, with its line of models."""

    def __init__(self, run: FittedRun, index: int) -> None:
        self.run, self.index = run, index

    @property
    def name(self) -> str | None:
        """What the client is called, where clients have names."""
        names = self.run.client_names
        return None if names is None else names[self.index]

    @property
    def called(self) -> str:
        """The client in a sentence."""
        return f"client {self.index}" + ("" if self.name is None else f" ({self.name})")

    @property
    def best_lambda(self) -> float | None:
        """The λ that did best on the client's validation samples; None for methods whose model has no λ."""
        lam = self._results.chosen_lambda(self.index)
        return None if np.isnan(lam) else lam

    @property
    def accuracy(self) -> float:
        """Test accuracy at ``best_lambda``; NaN if the client has no test samples."""
        return self._results.accuracy(self.index)

    @property
    def subspace(self) -> Subspace:
        """The line of the client's models, for methods that have one."""
        if not self.run.task.algorithm.mixes:
            title = self.run.task.algorithm.title
            raise UserError(f"subspace: the models of {title} have no λ; the client has one model, model()")
        return Subspace(self)

    def model(self, lam: float | None = None) -> nn.Module:
        """The client's model at ``lam``, from 0 (federated) to 1 (local); at ``best_lambda`` without it."""
        return self.run.task.model.module(self.weights(lam))

    def weights(self, lam: float | None = None) -> Tensor:
        """The same as one vector."""
        task = self.run.task
        if lam is not None and not task.algorithm.mixes:
            raise UserError(f"lam: the models of {task.algorithm.title} have no λ; leave it out")
        if lam is not None and not 0 <= lam <= 1:
            raise SettingError("lam", f"must be from 0 to 1, not {lam}")
        chosen = self.best_lambda if lam is None else lam
        position = torch.tensor(float("nan") if chosen is None else chosen, dtype=task.model.dtype)
        kept, server = self._states
        sent = task.algorithm.broadcast(server, task.model)
        return task.algorithm.personal_model(kept, sent, position, task.model)

    @property
    def own_lambda(self) -> float | None:
        """The λ that the method itself fitted or fixed for this client; None for methods that do neither."""
        chosen = self.run.task.algorithm.own_lambda(self._states[0])
        return None if chosen is None else float(chosen)

    @cached_property
    def _results(self) -> Results:
        return self.run.results_of(self.index)

    @cached_property
    def _states(self) -> tuple[State, State]:
        return self.run.states_of(self.index)

    def _heading(self) -> str:
        return f"{self.called} of {self.run._heading()}"

    def _facts(self) -> Sequence[Fact]:
        lam = self.best_lambda
        return [("accuracy in %", percent(self.accuracy)), ("validated λ", NOTHING if lam is None else f"{lam:g}")]
