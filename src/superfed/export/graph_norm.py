"""Batch normalisation as a graph can hold it: the same arithmetic for every number of samples, one included."""

import torch
from torch import Tensor, nn

from superfed.core.norm import BatchNorm, with_exact_norms


class GraphNorm(nn.Module):
    """Normalises each channel by the batch's own mean and variance, without asking how many values there are."""

    def __init__(self, norm: BatchNorm) -> None:
        super().__init__()
        self.eps, self.weight, self.bias = norm.eps, norm.weight, norm.bias

    def forward(self, x: Tensor) -> Tensor:
        axes = [axis for axis in range(x.dim()) if axis != 1]
        centred = x - x.mean(axes, keepdim=True)
        normalised = centred * ((centred * centred).mean(axes, keepdim=True) + self.eps).rsqrt()
        if self.weight is None or self.bias is None:
            return normalised
        channel = (1, -1, *[1] * (x.dim() - 2))
        return normalised * self.weight.view(channel) + self.bias.view(channel)


def with_graph_norms(module: nn.Module, sample: Tensor) -> nn.Module:
    """``module`` with such norms where there is a single value per channel for one ``sample``, as after a fully connected
    layer; parameters keep their names.

    All other norms stay torch's own, which then computes in the graph what it computed in the run, to the bit. Of a
    single value torch makes rounding noise, and the run's norms ask how many there are, which a graph cannot.
    """
    module = with_exact_norms(module)
    lonely: set[nn.Module] = set()

    def notice(norm: nn.Module, given: tuple[Tensor, ...]) -> None:
        if given[0].numel() == given[0].shape[1]:
            lonely.add(norm)

    hooks = [part.register_forward_pre_hook(notice) for part in module.modules() if isinstance(part, BatchNorm)]
    with torch.no_grad():
        module(sample)
    for hook in hooks:
        hook.remove()
    return _exchanged(module, lonely)


def _exchanged(module: nn.Module, lonely: set[nn.Module]) -> nn.Module:
    if isinstance(module, BatchNorm) and module in lonely:
        return GraphNorm(module)
    for name, part in module._modules.items():  # named_children() would leave out a layer's second place
        if part is not None:
            setattr(module, name, _exchanged(part, lonely))
    return module
