"""ResNet, the residual networks of He et al. 2016."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor, nn
from torch.nn import functional as F

from superfed.core.errors import require
from superfed.models.images import ImageRecipe, global_average, least_side_halved_up
from superfed.models.recipe import Classifier, initialise


@dataclass(frozen=True)
class ResNet(ImageRecipe):
    """Residual blocks of two 3×3 convolutions: at depth 20, 269,722 parameters on 3 channels and 10 classes.

    These are He et al.'s networks for CIFAR: three stages of 16, 32 and 64 channels, the second and third at half the
    size of the one before, with shortcuts that have no parameters (their option A; projections make it 272,474). The
    published SuPerFed runs used ``depth=10, stages=4, channels=64, stem_stride=2, stem_pool=True, shortcut="projection",
    hidden_layers=1, width=256, bias=False, init="xavier_normal"``: 5,054,784 on 3 channels and 100 classes.
    """

    called: ClassVar[str] = "resnet"

    depth: int = 20
    """The convolutions on the longest way and the last layer: 2 + 2 · stages · blocks in a stage."""
    stages: int = 3
    """Each but the first at half the size of the one before."""
    channels: int = 16
    """Of the first stage; each further one has twice as many."""
    stem_stride: int = 1
    """Of the first convolution; 2 halves the image."""
    stem_pool: bool = False
    """Whether a 3×3 max pooling of stride 2 comes before the first stage, as on large images."""
    shortcut: Literal["padding", "projection"] = "padding"
    """Where channels are added: zeros, or a 1×1 convolution."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("stages", "channels")
        per_depth = 2 * self.stages
        require(
            self.depth > 2 and (self.depth - 2) % per_depth == 0,
            "depth",
            f"must be 2 more than a multiple of {per_depth} with {self.stages} stages, not {self.depth}",
        )
        require(self.stem_stride in (1, 2), "stem_stride", f"must be 1 or 2, not {self.stem_stride}")

    def build(self, input_shape: tuple[int, ...], num_classes: int) -> nn.Module:
        halvings = (self.stem_stride == 2) + self.stem_pool + self.stages - 1
        self._check_images(input_shape, least_side_halved_up(halvings))
        channels = self.channels
        features = [*self._convolution(input_shape[0], channels, stride=self.stem_stride), nn.ReLU()]
        if self.stem_pool:
            features.append(nn.MaxPool2d(kernel_size=3, stride=2, padding=1))
        for stage in range(self.stages):
            inputs, channels = channels, self.channels * 2**stage
            features.append(self._block(inputs, channels, stride=1 if stage == 0 else 2))
            for _ in range((self.depth - 2) // (2 * self.stages) - 1):
                features.append(self._block(channels, channels, stride=1))
        features += global_average()
        classifier = self._fully_connected(channels, num_classes)
        return initialise(Classifier(nn.Sequential(*features), classifier), self.init)

    def _block(self, inputs: int, outputs: int, stride: int) -> nn.Module:
        first, second = self._convolution(inputs, outputs, stride=stride), self._convolution(outputs, outputs)
        shortcut: nn.Module = nn.Identity()
        if inputs != outputs and self.shortcut == "projection":
            shortcut = nn.Sequential(*self._convolution(inputs, outputs, kernel=1, stride=stride))
        elif inputs != outputs:
            shortcut = _Padded(outputs - inputs, stride)
        return _Residual(nn.Sequential(*first, nn.ReLU(), *second), shortcut)


class _Residual(nn.Module):
    def __init__(self, change: nn.Module, shortcut: nn.Module) -> None:
        super().__init__()
        self.change, self.shortcut = change, shortcut

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.change(x) + self.shortcut(x))


class _Padded(nn.Module):
    """Every so many pixels of the image, and zeros in the channels that it did not have."""

    def __init__(self, added: int, stride: int) -> None:
        super().__init__()
        self.added, self.stride = added, stride

    def forward(self, x: Tensor) -> Tensor:
        return F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.added))
