"""TwoNN, the multilayer perceptron of McMahan et al. 2017."""

from dataclasses import dataclass
from math import prod

from torch import nn

from superfed.core.errors import require
from superfed.models.recipe import Classifier, Init, ModelRecipe, initialise


@dataclass(frozen=True)
class TwoNN(ModelRecipe):
    """Two hidden layers of 200 units: 199,210 parameters on 28×28 inputs and 10 classes.

    The published SuPerFed runs used ``hidden_layers=3, bias=False, init="xavier_normal"``: 238,800.
    """

    hidden_layers: int = 2
    """Fully connected layers before the last one."""
    width: int = 200
    """Units in each of them."""
    bias: bool = True
    """Whether layers have one."""
    init: Init = "default"
    """torch's own, or Xavier's normal for all weights."""

    def __post_init__(self) -> None:
        require(self.hidden_layers >= 1, "hidden_layers", f"must be 1 or more, not {self.hidden_layers}")
        require(self.width >= 1, "width", f"must be 1 or more, not {self.width}")

    def build(self, input_shape: tuple[int, ...], num_classes: int) -> nn.Module:
        layers: list[nn.Module] = [nn.Flatten()]
        inputs = prod(input_shape)
        for _ in range(self.hidden_layers):
            layers += [nn.Linear(inputs, self.width, bias=self.bias), nn.ReLU()]
            inputs = self.width
        return initialise(Classifier(nn.Sequential(*layers), nn.Linear(inputs, num_classes, bias=self.bias)), self.init)
