"""The line of models that a client holds, from the federated one at λ = 0 to its local one at λ = 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import nn

from superfed.core.errors import SettingError, require
from superfed.core.samples import Samples
from superfed.data.arrays import to_tensor
from superfed.data.labels import numbers_of
from superfed.data.pairs import read_pair
from superfed.engine.evaluate import lambda_grid, score_models
from superfed.experiments.ensemble import Ensemble
from superfed.experiments.shown import Fact, Shown, rows_table
from superfed.metrics.readings import best_place
from superfed.report.markup import Markup
from superfed.report.numbers import NOTHING, decimal, percent

if TYPE_CHECKING:
    from superfed.experiments.fitted import FittedClient

POINTS = 11

By = Literal["loss", "accuracy"]


@dataclass(frozen=True, repr=False)
class LambdaCurve(Shown):
    """How good the models of a line are on the same samples; an entry for each λ, NaN where there are no samples."""

    lambdas: tuple[float, ...]
    accuracy: tuple[float, ...]
    loss: tuple[float, ...]
    samples: int

    def _heading(self) -> str:
        return f"the line of models on {self.samples} samples"

    def _facts(self) -> Sequence[Fact]:
        best = max(self.accuracy)
        return [("accuracy in %", f"{percent(min(self.accuracy))} to {percent(best)}")]

    def _more(self) -> Markup:
        points = zip(self.lambdas, self.accuracy, self.loss, strict=True)
        rows = [(f"{lam:g}", percent(accuracy), decimal(loss)) for lam, accuracy, loss in points]
        return rows_table(("λ", "accuracy in %", "loss"), rows)


class Subspace(Shown):
    """The models of one client, by λ.

    Where samples are given, ``x`` and ``y`` are arrays, tensors or lists with a row per sample. Labels may be the names
    of classes. Inputs are scaled as the run scaled its data, but for floating-point numbers where that was bytes, which
    are taken to be scaled already (``data/preprocessing.py``).
    """

    def __init__(self, client: "FittedClient") -> None:
        self._client = client

    def model(self, lam: float | None = None) -> nn.Module:
        """An ordinary module at ``lam``; at the client's validated λ without it."""
        return self._client.model(lam)

    def accuracy(self, lam: float | None = None, x: object = None, y: object = None) -> float:
        """At ``lam``, or at the client's validated λ, on its test samples or on those given; NaN if there are none."""
        chosen = self._client.best_lambda if lam is None else lam
        assert chosen is not None, "a method without λ has no subspace"
        return self._measured((chosen,), x, y).accuracy[0]

    def curve(self, x: object = None, y: object = None, *, points: int = POINTS) -> LambdaCurve:
        """Accuracy and loss at so many λ, evenly spaced, on the client's test samples or on those given."""
        return self._measured(_grid(points), x, y)

    def choose(self, x: object, y: object, *, by: By = "loss", points: int = POINTS) -> float:
        """The λ that does best on a handful of labelled samples.

        By loss, and of equals by accuracy: of n samples accuracy knows n + 1 values, so that few of them hardly tell one
        λ from another, while the loss also sees how sure each model was. ``by="accuracy"`` is the rule of ``validated``:
        the highest accuracy, of equals the lowest loss. Of what is equal in both, the smallest λ.
        """
        require(by in ("loss", "accuracy"), "by", f"must be 'loss' or 'accuracy', not {by!r}")
        if x is None or y is None:
            raise SettingError("choose", "needs the inputs x and the labels y of some samples")
        curve = self.curve(x, y, points=points)
        values = torch.tensor([curve.accuracy, curve.loss], dtype=torch.float64).numpy()
        return curve.lambdas[best_place(values[0], values[1], by)]

    def ensemble(self, lambdas: Sequence[float] | None = None) -> Ensemble:
        """A module that averages the probabilities of the models at ``lambdas``, or at 0, 0.1, …, 1; it answers with
        their logarithms."""
        chosen = _grid(POINTS) if lambdas is None else tuple(lambdas)
        require(len(chosen) > 0, "lambdas", "must name one λ or more")
        return Ensemble([self.model(lam) for lam in chosen])

    def _measured(self, lambdas: Sequence[float], x: object, y: object) -> LambdaCurve:
        task = self._client.run.task
        samples = task.data.test(self._client.index) if x is None and y is None else self._samples(x, y)
        found = score_models(task, (self._client.weights(lam) for lam in lambdas), samples)
        return LambdaCurve(tuple(lambdas), tuple(found["top1"].tolist()), tuple(found["loss"].tolist()), len(samples))

    def _samples(self, x: object, y: object) -> Samples:
        if x is None or y is None:
            raise SettingError("x" if x is None else "y", "is missing; give inputs and labels, or neither")
        run, where = self._client.run, "the samples"
        num_classes = run.task.data.num_classes
        inputs, labels = read_pair(x, y, where, num_classes)
        numbers = numbers_of(labels, where, num_classes, run.class_names)
        return Samples(torch.from_numpy(run.preprocessing.inputs(inputs, where)), to_tensor(numbers))

    def _heading(self) -> str:
        return f"the line of models of {self._client.called}"

    def _facts(self) -> Sequence[Fact]:
        best = self._client.best_lambda
        return [
            ("λ", "from 0, the federated model, to 1, the local one"),
            ("validated λ", f"{best:g}" if best is not None else NOTHING),
        ]

    def _more(self) -> Markup:
        return self.curve()._more()


def _grid(points: int) -> tuple[float, ...]:
    require(points >= 2, "points", f"must be 2 or more, to hold both ends, not {points}")
    return lambda_grid(points)
