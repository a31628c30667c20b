"""Forward and backward through a plain chain of layers, without recording anything: quicker than autograd for small ones.

A network is a chain if it is made of the layers below, one after another: TwoNN, TwoCNN and VGG are. Others, and layers
with hooks, go through autograd.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import torch
from torch import Tensor, nn

aten = torch.ops.aten


class Link(Protocol):
    """One layer. ``back`` takes the gradient of its output, puts away those of its parameters, and gives its input's."""

    def forth(self, x: Tensor) -> Tensor: ...

    def back(self, slope: Tensor, further: bool) -> Tensor: ...


class Chain:
    """``gradients`` maps each parameter's id to the tensor that its gradient is to be written to."""

    def __init__(self, links: list[Link]) -> None:
        self._links = links

    @classmethod
    def of(cls, module: nn.Module, gradients: dict[int, Tensor]) -> "Chain | None":
        layers = list(_layers(module))
        links = [_link(layer, gradients) for layer in layers]
        owned = sum(1 for layer in layers for _ in layer.parameters(recurse=False))
        if not links or None in links or owned != len(gradients):
            return None  # a layer of another kind, a frozen one, or one in two places
        return cls([link for link in links if link is not None])

    def run(self, x: Tensor, y: Tensor) -> Tensor:
        """Write the gradients of the mean cross entropy, and return its value."""
        for link in self._links:
            x = link.forth(x)
        logs = torch.log_softmax(x, dim=1)
        picked = y[:, None]
        loss = logs.gather(1, picked).mean().neg()
        slope = logs.exp()
        slope.scatter_add_(1, picked, slope.new_full(picked.shape, -1.0)).div_(len(y))
        for place in range(len(self._links) - 1, -1, -1):
            slope = self._links[place].back(slope, place > 0)
        return loss


def _layers(module: nn.Module) -> Iterator[nn.Module]:
    """The layers in their order, where the module says that it is a chain of them."""
    parts = module if type(module) is nn.Sequential else getattr(module, "chain", lambda: None)()
    if parts is None:
        yield module
    else:
        for part in parts:
            yield from _layers(part)


def _link(layer: nn.Module, gradients: dict[int, Tensor]) -> Link | None:
    if layer._forward_hooks or layer._forward_pre_hooks or layer._backward_hooks or layer._backward_pre_hooks:
        return None
    if any(id(p) not in gradients for p in layer.parameters(recurse=False)):
        return None
    if type(layer) is nn.Flatten and layer.start_dim == 1 and layer.end_dim == -1:
        return _Flatten()
    if type(layer) is nn.ReLU:
        return _ReLU()
    if type(layer) is nn.Linear:
        return _Linear(layer, gradients)
    if type(layer) is nn.Conv2d and layer.padding_mode == "zeros" and not isinstance(layer.padding, str):
        return _Conv2d(layer, gradients)
    if type(layer) is nn.MaxPool2d and not layer.ceil_mode and not layer.return_indices:
        return _MaxPool2d(layer)
    return None


class _Flatten:
    def forth(self, x: Tensor) -> Tensor:
        self._shape = x.shape
        return x.flatten(1)

    def back(self, slope: Tensor, further: bool) -> Tensor:
        return slope.view(self._shape) if further else slope


class _ReLU:
    def forth(self, x: Tensor) -> Tensor:
        self._y = x.relu_()
        return self._y

    def back(self, slope: Tensor, further: bool) -> Tensor:
        below: Tensor = aten.threshold_backward(slope, self._y, 0)
        return below


class _Linear:
    def __init__(self, layer: nn.Linear, gradients: dict[int, Tensor]) -> None:
        self._weight, self._bias = layer.weight.detach(), None if layer.bias is None else layer.bias.detach()
        self._to_weight = gradients[id(layer.weight)]
        self._to_bias = None if layer.bias is None else gradients[id(layer.bias)]

    def forth(self, x: Tensor) -> Tensor:
        self._x = x
        return torch.mm(x, self._weight.t()) if self._bias is None else torch.addmm(self._bias, x, self._weight.t())

    def back(self, slope: Tensor, further: bool) -> Tensor:
        torch.mm(slope.t(), self._x, out=self._to_weight)
        if self._to_bias is not None:
            torch.sum(slope, dim=0, out=self._to_bias)
        return torch.mm(slope, self._weight) if further else slope


class _Conv2d:
    def __init__(self, layer: nn.Conv2d, gradients: dict[int, Tensor]) -> None:
        self._weight, self._bias = layer.weight.detach(), None if layer.bias is None else layer.bias.detach()
        self._to_weight = gradients[id(layer.weight)]
        self._to_bias = None if layer.bias is None else gradients[id(layer.bias)]
        self._how = tuple(_pair(value) for value in (layer.stride, layer.padding, layer.dilation))
        self._groups = layer.groups

    def forth(self, x: Tensor) -> Tensor:
        self._x = x
        stride, padding, dilation = self._how
        return torch.conv2d(x, self._weight, self._bias, stride, padding, dilation, self._groups)

    def back(self, slope: Tensor, further: bool) -> Tensor:
        sizes = None if self._bias is None else list(self._bias.shape)
        wanted = [further, True, self._bias is not None]
        below, weight, bias = aten.convolution_backward(
            slope, self._x, self._weight, sizes, *self._how, False, [0, 0], self._groups, wanted
        )
        self._to_weight.copy_(weight)
        if self._to_bias is not None:
            self._to_bias.copy_(bias)
        return below if further else slope


class _MaxPool2d:
    def __init__(self, layer: nn.MaxPool2d) -> None:
        both = [_pair(value) for value in (layer.kernel_size, layer.stride, layer.padding, layer.dilation)]
        self._how = (*both, False)

    def forth(self, x: Tensor) -> Tensor:
        self._x = x
        y: Tensor
        y, self._places = aten.max_pool2d_with_indices(x, *self._how)
        return y

    def back(self, slope: Tensor, further: bool) -> Tensor:
        below: Tensor = aten.max_pool2d_with_indices_backward(slope, self._x, *self._how, self._places)
        return below


def _pair(value: Any) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)
