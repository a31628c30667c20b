"""MobileNet, the depthwise separable network of Howard et al. 2017."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from superfed.core.errors import SettingError, require
from superfed.models.images import ImageRecipe, global_average, least_side_halved_up
from superfed.models.recipe import Classifier, initialise

STEM = 32


@dataclass(frozen=True)
class MobileNet(ImageRecipe):
    """Thirteen depthwise separable blocks up to 1024 channels: 3,217,226 parameters on 3 channels and 10 classes.

    This is Howard et al.'s first MobileNet (4,231,976 with 1000 classes) with a stem that does not halve the image, so
    that the last blocks see 2×2 pixels and more of a small one; ``stem_stride=2`` is theirs. The published SuPerFed runs
    used ``blocks="64 128/2 256/2 512/2", stem_stride=2, hidden_layers=1, width=256, bias=False, init="xavier_normal"``:
    364,480 on 3 channels and 200 classes, of which 2,944 are those of normalisations after the stem of 32 channels and
    after both convolutions of each block.
    """

    called: ClassVar[str] = "mobilenet"

    blocks: str = "64 128/2 128 256/2 256 512/2 512 512 512 512 512 1024/2 1024"
    """The channels of each separable block; ``/2`` halves the image."""
    multiplier: float = 1.0
    """Of the channels everywhere, the authors' width multiplier."""
    stem_stride: int = 1
    """Of the first convolution; 2 halves the image."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.multiplier > 0, "multiplier", f"must be more than 0, not {self.multiplier}")
        require(self.stem_stride in (1, 2), "stem_stride", f"must be 1 or 2, not {self.stem_stride}")
        self._blocks()

    def build(self, input_shape: tuple[int, ...], num_classes: int) -> nn.Module:
        halvings = sum(stride == 2 for _, stride in [(STEM, self.stem_stride), *self._blocks()])
        self._check_images(input_shape, least_side_halved_up(halvings))
        inputs = self._scaled(STEM)
        features = [*self._convolution(input_shape[0], inputs, stride=self.stem_stride), nn.ReLU()]
        for channels, stride in self._blocks():
            outputs = self._scaled(channels)
            features += [*self._convolution(inputs, inputs, stride=stride, groups=inputs), nn.ReLU()]
            features += [*self._convolution(inputs, outputs, kernel=1), nn.ReLU()]
            inputs = outputs
        features += global_average()
        classifier = self._fully_connected(inputs, num_classes)
        return initialise(Classifier(nn.Sequential(*features), classifier), self.init)

    def _scaled(self, channels: int) -> int:
        return max(round(channels * self.multiplier), 1)

    def _blocks(self) -> list[tuple[int, int]]:
        """The channels and the stride of each block."""
        blocks = []
        for word in self.blocks.split():
            number = word.removesuffix("/2")
            if not (number.isdecimal() and int(number) >= 1):
                raise SettingError("blocks", f"'{word}' is neither a number of channels nor one with /2 after it")
            blocks.append((int(number), 2 if word.endswith("/2") else 1))
        require(bool(blocks), "blocks", "must name the channels of one block or more")
        return blocks
