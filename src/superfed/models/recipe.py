"""What the models of the zoo share: a recipe is a small frozen dataclass that builds a network for given data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn

Init = Literal["default", "xavier_normal"]


@dataclass(frozen=True, kw_only=True)
class ModelRecipe:
    """Subclasses are frozen dataclasses; their fields are the network's parameters."""

    head: str | None = None
    """The layer or block at which the head begins, for methods that treat it apart; without it, the classifier.

    ``(none)`` and ``(all)`` leave nothing and everything to it.
    """

    def build(self, input_shape: tuple[int, ...], num_classes: int) -> nn.Module:
        raise NotImplementedError

    def builder(self, input_shape: tuple[int, ...], num_classes: int) -> Callable[[], nn.Module]:
        return lambda: self.build(input_shape, num_classes)


class Classifier(nn.Module):
    """Features, then a classifier block, which is the head for methods that treat it apart."""

    head_name = "classifier"

    def __init__(self, features: nn.Module, classifier: nn.Module) -> None:
        super().__init__()
        self.features = features
        self.classifier = classifier

    def chain(self) -> tuple[nn.Module, nn.Module]:
        """What is done one after the other, for who knows a quicker way."""
        return self.features, self.classifier

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.classifier(self.features(x))
        return scores


def initialise(module: nn.Module, init: Init) -> nn.Module:
    """Torch's own initialisation, or Xavier's with normal draws for every weight matrix and zero biases."""
    if init == "xavier_normal":
        for name, parameter in module.named_parameters():
            if parameter.dim() > 1:
                nn.init.xavier_normal_(parameter)
            elif "bias" in name.rpartition(".")[2]:
                nn.init.zeros_(parameter)
    return module
