"""VGG, the plain stack of 3×3 convolutions of Simonyan and Zisserman 2015."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from superfed.core.errors import SettingError, require
from superfed.models.images import ImageRecipe, Norm
from superfed.models.recipe import Classifier, initialise

POOL = "pool"


@dataclass(frozen=True)
class VGG(ImageRecipe):
    """VGG-9, six convolutions and three fully connected layers: 3,491,530 parameters on 32×32×3 inputs and 10 classes.

    This is the network of Wang et al. 2020 (FedMA) without its dropout. The published SuPerFed runs used
    ``layers="16 pool 32 pool 64 128 pool 256 512 pool", hidden_layers=1, width=256, bias=False, init="xavier_normal"``:
    1,718,416 on 28×28×1 and 62 classes. Four poolings leave one pixel of 28×28 wherever they stand; here it is where
    VGG-11 has its first four, among as many convolutions.
    """

    called: ClassVar[str] = "vgg"

    layers: str = "32 64 pool 128 128 pool 256 256 pool"
    """The channels of each convolution, and where the image is halved."""
    norm: Norm = "none"
    hidden_layers: int = 2
    width: int = 512

    def __post_init__(self) -> None:
        super().__post_init__()
        for word in self._words():
            if word != POOL and not (word.isdecimal() and int(word) >= 1):
                raise SettingError("layers", f"'{word}' is neither a number of channels nor '{POOL}'")
        convolutions = len(self._words()) - self._words().count(POOL)
        require(convolutions >= 1, "layers", "must name the channels of one convolution or more")

    def build(self, input_shape: tuple[int, ...], num_classes: int) -> nn.Module:
        shrunk = 2 ** self._words().count(POOL)
        self._check_images(input_shape, shrunk)
        channels, height, width = input_shape
        features: list[nn.Module] = []
        for word in self._words():
            if word == POOL:
                features.append(nn.MaxPool2d(kernel_size=2))
            else:
                inputs, channels = channels, int(word)
                features += [*self._convolution(inputs, channels), nn.ReLU()]
        classifier = self._fully_connected(channels * (height // shrunk) * (width // shrunk), num_classes)
        return initialise(Classifier(nn.Sequential(*features, nn.Flatten()), classifier), self.init)

    def _words(self) -> list[str]:
        return self.layers.split()
