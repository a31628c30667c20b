"""A model from a file, in use."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from superfed.core.errors import UserError
from superfed.engine.evaluate import chunks
from superfed.experiments.shown import Fact, Shown
from superfed.export.card import Card
from superfed.export.formats import Format
from superfed.export.network import Network

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class ExportedModel(Shown):
    """``card`` says what the model is. Inputs are prepared as the card says before it sees them."""

    path: Path
    format: Format
    card: Card
    network: Network

    def scores(self, x: object, where: str = "the inputs") -> Floats:
        """A score for each sample and class, of arrays, tensors or lists with a row per sample.

        Samples go through the network together, as in the run's own evaluation.
        """
        inputs = torch.from_numpy(self.card.preprocessing.inputs(x, where))
        parts = [self._answer(part, where) for part in chunks(inputs)]
        scores: Floats = torch.cat(parts).double().numpy()
        if scores.shape != (len(inputs), self.card.num_classes):
            raise UserError(
                f"{self.path}: answers with scores of shape {scores.shape[1:]}, and says it has {self.card.num_classes} "
                "classes; export it again"
            )
        if not np.isfinite(scores).all():
            raise UserError(f"{self.path}: its scores are not finite, so it tells nothing; was it trained to the end?")
        return scores

    def probabilities(self, x: object) -> Floats:
        """The same as probabilities, which add up to 1 for each sample."""
        return softmax(self.scores(x))

    def predict(self, x: object) -> list[str] | npt.NDArray[np.int64]:
        """The class of each sample: its name or, where classes have none, its number."""
        numbers = self.scores(x).argmax(axis=1)
        names = self.card.class_names
        return numbers if names is None else [self.card.class_name(number) for number in numbers.tolist()]

    def _answer(self, x: Tensor, where: str) -> Tensor:
        try:
            return self.network(x)
        except Exception as error:  # a network may fail in any way, as over a symbol that it does not know
            reason = " ".join(str(error).split())[:120]
            raise UserError(f"{where}: {self.path} cannot take these inputs ({reason})") from error

    def _heading(self) -> str:
        return f"{self.card.called}, from {self.path.name}"

    def _facts(self) -> Sequence[Fact]:
        return [("format", self.format), ("classes", f"{self.card.num_classes}")]


def softmax(scores: Floats) -> Floats:
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities: Floats = shifted / shifted.sum(axis=1, keepdims=True)
    return probabilities
