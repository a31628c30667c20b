"""How the kernel of a convolution moves over an image."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

Pair = tuple[int, int]
Numbers = int | Sequence[int]


@dataclass(frozen=True)
class Geometry:
    stride: Pair
    padding: Pair
    dilation: Pair
    groups: int
    depthwise: bool = False
    """Whether each channel has one kernel of its own."""

    @classmethod
    def of(cls, stride: Numbers, padding: Numbers, dilation: Numbers, groups: int) -> "Geometry":
        return cls(pair(stride), pair(padding), pair(dilation), groups)

    @property
    def plain(self) -> bool:
        """Whether every pixel is met once and nothing beside them."""
        return self.stride == (1, 1) and self.padding == (0, 0)

    def made(self, sides: Pair, kernel: Pair) -> Pair:
        """The sides of the output."""
        spans = [self.dilation[i] * (kernel[i] - 1) + 1 for i in range(2)]
        rows, cols = ((sides[i] + 2 * self.padding[i] - spans[i]) // self.stride[i] + 1 for i in range(2))
        return rows, cols


def pair(value: Numbers) -> Pair:
    rows, cols = (value, value) if isinstance(value, int) else value
    return rows, cols


def sides_of(tensor: Tensor) -> Pair:
    return tensor.shape[-2], tensor.shape[-1]
