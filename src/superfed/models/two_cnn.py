"""TwoCNN, the convolutional network of McMahan et al. 2017."""

from dataclasses import dataclass

from torch import nn

from superfed.core.errors import SettingError, require
from superfed.models.recipe import Classifier, Init, ModelRecipe, initialise


@dataclass(frozen=True)
class TwoCNN(ModelRecipe):
    """Two 5×5 convolutions with pooling, then one hidden layer of 512 units: 1,663,370 parameters on 28×28×1 inputs.

    The published SuPerFed runs used ``padding=1, pool_padding=1, hidden_layers=2, width=200, bias=False,
    init="xavier_normal"``: 722,800 on 28×28×3.
    """

    channels: int = 32
    """Of the first convolution; the second has twice as many."""
    padding: int = 2
    """Pixels around the image, for the convolutions."""
    pool_padding: int = 0
    """Pixels around the image, for the poolings."""
    hidden_layers: int = 1
    """Fully connected layers before the last one."""
    width: int = 512
    """Units in each of them."""
    bias: bool = True
    """Whether layers have one."""
    init: Init = "default"
    """torch's own, or Xavier's normal for all weights."""

    def __post_init__(self) -> None:
        for name in ("channels", "hidden_layers", "width"):
            require(getattr(self, name) >= 1, name, f"must be 1 or more, not {getattr(self, name)}")
        require(0 <= self.padding <= 4, "padding", f"must be from 0 to 4, not {self.padding}")
        require(self.pool_padding in (0, 1), "pool_padding", f"must be 0 or 1, not {self.pool_padding}")

    def build(self, input_shape: tuple[int, ...], num_classes: int) -> nn.Module:
        if len(input_shape) != 3:
            raise SettingError(
                "name", f"two_cnn takes images (channels, height, width), and the inputs are {input_shape}"
            )
        inputs, *sides = input_shape
        features: list[nn.Module] = []
        for outputs in (self.channels, 2 * self.channels):
            features += [
                nn.Conv2d(inputs, outputs, kernel_size=5, padding=self.padding, bias=self.bias),
                nn.ReLU(),
                nn.MaxPool2d(kernel_size=2, padding=self.pool_padding),
            ]
            convolved = [side + 2 * self.padding - 4 for side in sides]
            sides = [(side + 2 * self.pool_padding) // 2 for side in convolved]
            if min(convolved + sides) < 1:
                raise SettingError("name", f"two_cnn needs larger images than {input_shape[1]}×{input_shape[2]}")
            inputs = outputs
        hidden: list[nn.Module] = []
        units = inputs * sides[0] * sides[1]
        for _ in range(self.hidden_layers):
            hidden += [nn.Linear(units, self.width, bias=self.bias), nn.ReLU()]
            units = self.width
        classifier = nn.Sequential(*hidden, nn.Linear(units, num_classes, bias=self.bias))
        return initialise(Classifier(nn.Sequential(*features, nn.Flatten()), classifier), self.init)
