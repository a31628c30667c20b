"""The model that is to be written: a client's, or the global one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from superfed.core.errors import UserError
from superfed.data.own_folder import ClientFolder
from superfed.data.own_table import ClientTable
from superfed.engine.fusing import CPU, evaluating
from superfed.engine.task import as_inputs
from superfed.experiments.fitted import FittedClient, FittedRun
from superfed.experiments.provenance import installed_version
from superfed.experiments.schema import RunConfig
from superfed.experiments.strict import plain
from superfed.export.card import Card
from superfed.models import MODELS

FEW = 8

Lambda = float | Literal["best", "own"] | None


@dataclass(frozen=True)
class Subject:
    """``weights`` is the model as one vector; ``inputs`` are some samples to try it on."""

    run: FittedRun
    weights: Tensor
    card: Card
    inputs: Tensor

    @classmethod
    def of(cls, source: FittedRun | FittedClient, lam: Lambda = None) -> "Subject":
        """A client's model at ``lam``, or a run's global model."""
        if isinstance(source, FittedRun):
            if lam is not None:
                raise UserError("lam: the global model has no λ; leave it out")
            return cls(source, source.global_weights(), _card(source), _samples(source, source.members[0]))
        chosen = _chosen(source, lam)
        card = _card(source.run, source, source.best_lambda if chosen is None else chosen)
        return cls(source.run, source.weights(chosen), card, _samples(source.run, source.index))

    def module(self) -> nn.Module:
        return self.run.task.model.module(self.weights)

    def expected(self, x: Tensor) -> Tensor:
        """What the run's own evaluation finds."""
        with torch.no_grad():
            return evaluating(self.run.task.model, CPU)(self.weights, x).clone()


def _chosen(client: FittedClient, lam: Lambda) -> float | None:
    """A number, or None for the validated λ."""
    if lam is None or lam == "best":
        return None
    if lam != "own":
        return lam
    own = client.own_lambda
    if own is None:
        raise UserError(f"lam: {client.run.task.algorithm.title} chooses no λ of its own; give best or a number")
    return own


def _samples(run: FittedRun, index: int) -> Tensor:
    """Some of the client's, of whatever part has any; several of them at least, if by saying one twice."""
    data = run.task.data
    parts = (part(index).x[:FEW] for part in (data.test, data.validation, data.train))
    x = next(x for x in parts if len(x))
    return as_inputs(x if len(x) > 1 else torch.cat([x, x]), run.task.model)


def _card(run: FittedRun, client: FittedClient | None = None, lam: float | None = None) -> Card:
    task = run.task
    return Card(
        method=task.algorithm.title,
        client=None if client is None else client.index,
        client_name=None if client is None else client.name,
        lam=lam,
        num_classes=task.data.num_classes,
        class_names=_listed(run.class_names),
        preprocessing=run.preprocessing,
        model=None if run.config is None else plain(run.config.model, MODELS),
        columns=None if run.config is None else _columns(run.config),
        batch_statistics=not task.model.by_sample,
        data_fingerprint=task.data.fingerprint,
        superfed=installed_version("superfed"),
        torch=str(torch.__version__),
    )


def _columns(config: RunConfig) -> Mapping[str, Any] | None:
    """Of tables: the label, the inputs if they were named, and what is no input."""
    dataset = config.data.dataset
    if isinstance(dataset, ClientTable):
        others = [name for name in (dataset.client, dataset.split) if name is not None]
        return {"label": dataset.label, "inputs": dataset.inputs, "others": others}
    return (
        {"label": dataset.label, "inputs": dataset.inputs, "others": []} if isinstance(dataset, ClientFolder) else None
    )


def _listed(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)
