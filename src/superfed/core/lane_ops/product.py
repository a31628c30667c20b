"""Fully connected layers of many lanes at once.

Mini-batches are small, so a product reads far more weights than it computes with. In full precision torch's kernels take
about twice as long as the reading does, and ours for convolutions hardly longer: a fully connected layer is a
convolution of images of one pixel.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from superfed.core.lane_ops.conv import conv2d

SMALL = 32
"""Of a larger batch torch's products are the faster ones."""


def with_lane_products(module: nn.Module) -> None:
    """Let the plain fully connected layers of ``module`` compute as below; their parameters keep their names."""
    for layer in module.modules():
        if type(layer) is nn.Linear:
            layer.__class__ = LaneLinear


class LaneLinear(nn.Linear):
    """``nn.Linear`` that may be mapped over lanes at little cost."""

    def forward(self, input: Tensor) -> Tensor:
        return linear(input, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``torch.nn.functional.linear`` of one lane, to be mapped over many."""
    if x.dim() != 2 or len(x) > SMALL:
        return F.linear(x, weight, bias)
    y = conv2d(x[:, :, None, None], weight[:, :, None, None]).flatten(1)
    return y if bias is None else y + bias
