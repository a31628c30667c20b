"""Batch normalisation without running statistics, exact also when a batch is padded.

A batch is normalised by its own mean and variance, so a padded sample would change the others. Each layer therefore has
a buffer for the weights of the batch's samples, and whoever pads a batch passes them there.
"""

import torch
from torch import Tensor, nn

WEIGHTS = "sample_weight"
"""The buffer's name. It is an input that comes another way, and no part of the model."""


class BatchNorm(nn.Module):
    """Normalises each channel (dimension 1) over the batch and, for images, over the image.

    With one value per channel there is nothing to divide by, and the result is the bias.
    """

    def __init__(self, channels: int, eps: float = 1e-5, affine: bool = True) -> None:
        super().__init__()
        self.channels, self.eps = channels, eps
        self.weight = nn.Parameter(torch.ones(channels)) if affine else None
        self.bias = nn.Parameter(torch.zeros(channels)) if affine else None
        self.sample_weight: Tensor
        self.register_buffer(WEIGHTS, torch.ones(()), persistent=False)

    def reset_parameters(self) -> None:
        if self.weight is not None and self.bias is not None:
            nn.init.ones_(self.weight)
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        weight = self.sample_weight
        if weight.dim() == 0:  # nothing is padded
            if x.numel() > x.shape[1]:
                return torch.batch_norm(
                    x, self.weight, self.bias, None, None, True, 0.0, self.eps, torch.backends.cudnn.enabled
                )
            weight = x.new_ones(len(x))  # of one value torch's kernel makes rounding noise, and not nothing
        axes = [axis for axis in range(x.dim()) if axis != 1]
        counts = weight.reshape(-1, *[1] * (x.dim() - 1))
        values = (weight.sum() * x[0, 0].numel()).clamp_min(1)
        mean = (x * counts).sum(axes, keepdim=True) / values
        centred = x - mean
        variance = (centred * centred * counts).sum(axes, keepdim=True) / values
        normalised = centred * torch.rsqrt(variance + self.eps)
        if self.weight is None or self.bias is None:
            return normalised
        channel = (1, -1, *[1] * (x.dim() - 2))
        return normalised * self.weight.view(channel) + self.bias.view(channel)

    def extra_repr(self) -> str:
        return f"{self.channels}, eps={self.eps}, affine={self.weight is not None}"


def with_exact_norms(module: nn.Module) -> nn.Module:
    """``module`` with its own batch normalisations, where they keep no running statistics, replaced by exact ones."""
    if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d | nn.BatchNorm3d) and not module.track_running_stats:
        exact = BatchNorm(module.num_features, module.eps, affine=False)
        exact.weight, exact.bias = module.weight, module.bias
        return exact.train(module.training)
    for name, part in module._modules.items():  # named_children() would leave out a layer's second place
        if part is not None:
            setattr(module, name, with_exact_norms(part))
    return module
