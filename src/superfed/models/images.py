"""What the deep convolutional networks share: normalised convolutions, a fully connected end, and what images they take."""

from dataclasses import dataclass
from math import gcd
from typing import ClassVar, Literal

from torch import nn

from superfed.core.errors import SettingError, require
from superfed.core.norm import BatchNorm
from superfed.models.recipe import Init, ModelRecipe

Norm = Literal["batch", "group", "none"]


@dataclass(frozen=True, kw_only=True)
class ImageRecipe(ModelRecipe):
    """The settings that the deep convolutional networks have in common."""

    called: ClassVar[str]
    """The network's name in the registry."""

    norm: Norm = "batch"
    """What follows a convolution; ``batch`` keeps no running statistics."""
    groups: int = 2
    """Groups of channels for ``group``; fewer where so many do not divide a layer's channels."""
    hidden_layers: int = 0
    """Fully connected layers before the last one."""
    width: int = 256
    """Units in each of them."""
    bias: bool = True
    """In fully connected layers, and in convolutions that no normalisation follows."""
    init: Init = "default"
    """torch's own, or Xavier's normal for all weights."""

    def __post_init__(self) -> None:
        require(self.hidden_layers >= 0, "hidden_layers", f"must be 0 or more, not {self.hidden_layers}")
        self._require_positive("groups", "width")

    def _require_positive(self, *names: str) -> None:
        for name in names:
            require(getattr(self, name) >= 1, name, f"must be 1 or more, not {getattr(self, name)}")

    def _check_images(self, input_shape: tuple[int, ...], least_side: int) -> None:
        """Refuse what is no image, or one that is used up before the last layer."""
        if len(input_shape) != 3:
            raise SettingError(
                "name", f"{self.called} takes images (channels, height, width), and the inputs are {input_shape}"
            )
        if min(input_shape[1:]) < least_side:
            raise SettingError("name", f"{self.called} needs larger images than {input_shape[1]}×{input_shape[2]}")

    def _convolution(
        self, inputs: int, outputs: int, *, kernel: int = 3, stride: int = 1, groups: int = 1
    ) -> list[nn.Module]:
        """A convolution that keeps an image's size but for the stride, and its normalisation."""
        bias = self.bias and self.norm == "none"
        convolution = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups, bias=bias)
        if self.norm == "batch":
            return [convolution, BatchNorm(outputs)]
        if self.norm == "group":
            return [convolution, nn.GroupNorm(gcd(self.groups, outputs), outputs)]
        return [convolution]

    def _fully_connected(self, inputs: int, num_classes: int) -> nn.Module:
        hidden: list[nn.Module] = []
        for _ in range(self.hidden_layers):
            hidden += [nn.Linear(inputs, self.width, bias=self.bias), nn.ReLU()]
            inputs = self.width
        last = nn.Linear(inputs, num_classes, bias=self.bias)
        return nn.Sequential(*hidden, last) if hidden else last


def global_average() -> list[nn.Module]:
    """One number per channel, whatever the image's size."""
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten()]


def least_side_halved_up(halvings: int) -> int:
    """The smallest side of which no step that halves it, rounding up, finds a single pixel."""
    return 2 ** (halvings - 1) + 1 if halvings else 1
