"""Forward and backward through a plain chain of layers, without recording anything: quicker than autograd for small ones.

A network is a chain if it is made of the layers below, one after another: TwoNN, TwoCNN and VGG are. Others, and layers
with hooks, go through autograd.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

aten = torch.ops.aten

VECTOR = 8
"""Of so many channels torch pools several at a time if they lie together, and otherwise one after the other."""

Loss = Callable[[Tensor, Tensor], tuple[Tensor | float, Tensor]]
"""From scores and classes the mean loss, and its gradient by the scores."""


@dataclass(frozen=True)
class Place:
    """Where a parameter's gradient is to be written, and where that begins and ends in the vector of all."""

    gradient: Tensor
    start: int
    stop: int


class Link(Protocol):
    """One layer, and the places of its parameters' gradients."""

    places: tuple[Place, ...]

    def forth(self, x: Tensor) -> Tensor: ...

    def back(self, slope: Tensor, wanted: bool, further: bool) -> Tensor:
        """From the gradient of its output that of its input, if it is needed ``further``; if ``wanted``, its parameters'."""
        ...


class Route(NamedTuple):
    """The way to the gradients of some layers: back through all that lie behind the first of them, and no further."""

    frozen: list[Link]
    """What comes before any of them."""
    forth: list[Link]
    back: list[tuple[Link, bool, bool]]


class Chain:
    def __init__(self, links: list[Link]) -> None:
        self._links = links

    @classmethod
    def of(cls, module: nn.Module, places: Mapping[int, Place]) -> "Chain | None":
        """``places`` are by the parameters' ids."""
        layers = list(_layers(module))
        links = [_link(layer, places) for layer in layers]
        owned = sum(1 for layer in layers for _ in layer.parameters(recurse=False))
        if not links or None in links or owned != len(places):
            return None  # a layer of another kind, a frozen one, or one in two places
        return cls(_pools_first([link for link in links if link is not None]))

    def route(self, start: int, stop: int) -> Route:
        """To the gradients of the parameters from ``start`` to ``stop`` in the vector."""
        wanted = [any(start <= p.start < stop for p in link.places) for link in self._links]
        first = wanted.index(True) if True in wanted else len(self._links)
        behind = list(zip(self._links, wanted, strict=True))[first:]
        back = [(link, wants, place > 0) for place, (link, wants) in enumerate(behind)]
        return Route(self._links[:first], self._links[first:], back[::-1])


def run(route: Route, x: Tensor, y: Tensor, loss_of: Loss) -> Tensor | float:
    """Write the route's gradients of the mean loss, and return its value; ``x`` is what comes out of the frozen links."""
    for link in route.forth:
        x = link.forth(x)
    loss, slope = loss_of(x, y)
    for link, wanted, further in route.back:
        slope = link.back(slope, wanted, further)
    return loss


def cross_entropy(scores: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    logs = torch.log_softmax(scores, dim=1)
    picked = y[:, None]
    loss = logs.gather(1, picked).mean().neg()
    slope = logs.exp()
    return loss, slope.scatter_add_(1, picked, slope.new_full(picked.shape, -1.0)).div_(len(y))


def _layers(module: nn.Module) -> Iterator[nn.Module]:
    """The layers in their order, where the module says that it is a chain of them."""
    parts = module if type(module) is nn.Sequential else getattr(module, "chain", lambda: None)()
    if parts is None:
        yield module
    else:
        for part in parts:
            yield from _layers(part)


def _pools_first(links: list[Link]) -> list[Link]:
    """The largest of some numbers, cut off at zero, is the largest of them cut off: but after pooling they are fewer."""
    ordered = list(links)
    for place in range(len(ordered) - 1):
        if isinstance(ordered[place], _ReLU) and isinstance(ordered[place + 1], _MaxPool2d):
            ordered[place], ordered[place + 1] = ordered[place + 1], ordered[place]
    return ordered


def _link(layer: nn.Module, places: Mapping[int, Place]) -> Link | None:
    if layer._forward_hooks or layer._forward_pre_hooks or layer._backward_hooks or layer._backward_pre_hooks:
        return None
    if any(id(p) not in places for p in layer.parameters(recurse=False)):
        return None
    if type(layer) is nn.Flatten and layer.start_dim == 1 and layer.end_dim == -1:
        return _Flatten()
    if type(layer) is nn.ReLU:
        return _ReLU()
    if type(layer) is nn.Linear:
        return _Linear(layer, places)
    if type(layer) is nn.Conv2d and layer.padding_mode == "zeros" and not isinstance(layer.padding, str):
        return _Conv2d(layer, places)
    if type(layer) is nn.MaxPool2d and not layer.ceil_mode and not layer.return_indices:
        return _MaxPool2d(layer)
    return None


class _Flatten:
    places: tuple[Place, ...] = ()

    def forth(self, x: Tensor) -> Tensor:
        self._shape = x.shape
        apart = x.dim() == 4 and x.stride(1) == 1  # as convolutions left it, and pooling wants it back
        self._memory = torch.channels_last if apart else torch.contiguous_format
        return x.flatten(1)

    def back(self, slope: Tensor, wanted: bool, further: bool) -> Tensor:
        return slope.view(self._shape).contiguous(memory_format=self._memory) if further else slope


class _ReLU:
    places: tuple[Place, ...] = ()

    def forth(self, x: Tensor) -> Tensor:
        self._y = x.relu_()
        return self._y

    def back(self, slope: Tensor, wanted: bool, further: bool) -> Tensor:
        below: Tensor = aten.threshold_backward(slope, self._y, 0)
        return below


class _Weights:
    """A layer's weight and perhaps bias, which lie in the vector, and where their gradients go."""

    def __init__(self, layer: nn.Linear | nn.Conv2d, places: Mapping[int, Place]) -> None:
        self._weight = layer.weight.detach()
        self._bias = None if layer.bias is None else layer.bias.detach()
        self.places = tuple(places[id(p)] for p in (layer.weight, layer.bias) if p is not None)
        self._to_weight = self.places[0].gradient
        self._to_bias = None if layer.bias is None else self.places[1].gradient


class _Linear(_Weights):
    def __init__(self, layer: nn.Linear, places: Mapping[int, Place]) -> None:
        super().__init__(layer, places)
        self._across = self._weight.t()

    def forth(self, x: Tensor) -> Tensor:
        self._x = x
        return torch.mm(x, self._across) if self._bias is None else torch.addmm(self._bias, x, self._across)

    def back(self, slope: Tensor, wanted: bool, further: bool) -> Tensor:
        if wanted:
            torch.mm(slope.t(), self._x, out=self._to_weight)
            if self._to_bias is not None:
                torch.sum(slope, dim=0, out=self._to_bias)
        return torch.mm(slope, self._weight) if further else slope


class _Conv2d(_Weights):
    def __init__(self, layer: nn.Conv2d, places: Mapping[int, Place]) -> None:
        super().__init__(layer, places)
        self._how = tuple(_pair(value) for value in (layer.stride, layer.padding, layer.dilation))
        self._groups = layer.groups

    def forth(self, x: Tensor) -> Tensor:
        self._x = x
        stride, padding, dilation = self._how
        return torch.conv2d(x, self._weight, self._bias, stride, padding, dilation, self._groups)

    def back(self, slope: Tensor, wanted: bool, further: bool) -> Tensor:
        sizes = None if self._bias is None else list(self._bias.shape)
        which = [further, wanted, wanted and self._bias is not None]
        below, weight, bias = aten.convolution_backward(
            slope, self._x, self._weight, sizes, *self._how, False, [0, 0], self._groups, which
        )
        if wanted:
            self._to_weight.copy_(weight)
            if self._to_bias is not None:
                self._to_bias.copy_(bias)
        return below if further else slope


class _MaxPool2d:
    places: tuple[Place, ...] = ()

    def __init__(self, layer: nn.MaxPool2d) -> None:
        both = [_pair(value) for value in (layer.kernel_size, layer.stride, layer.padding, layer.dilation)]
        self._how = (*both, False)
        self._chosen: Tensor

    def forth(self, x: Tensor) -> Tensor:
        self._x = x
        if not x.is_contiguous() or x.shape[1] < VECTOR:
            y: Tensor
            y, self._chosen = aten.max_pool2d_with_indices(x, *self._how)
            return y
        y, chosen = aten.max_pool2d_with_indices(x.contiguous(memory_format=torch.channels_last), *self._how)
        self._chosen = chosen.contiguous()
        return y.contiguous()

    def back(self, slope: Tensor, wanted: bool, further: bool) -> Tensor:
        below: Tensor = aten.max_pool2d_with_indices_backward(slope, self._x, *self._how, self._chosen)
        return below


def _pair(value: Any) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)
