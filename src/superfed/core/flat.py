"""A network whose parameters are pieces of one vector: the quickest way to a gradient for one client on a CPU."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from superfed.core.batch import Batch
from superfed.core.chain import Chain, Place, cross_entropy, run
from superfed.core.loops import Loops
from superfed.core.vector import VectorModel, Weights

FEW_NUMBERS = 500_000
"""In the kernels of all convolutions; networks with images whose channels lie together have at most so many."""

MOST_BYTES = 2**28
"""What a client's samples may take after the layers that no longer change; if it is more, they are computed as needed."""


@dataclass(frozen=True)
class Piece:
    """The place in the vector of one parameter, or of several in a row, and the layer they belong to."""

    start: int
    stop: int
    layer: int

    @property
    def slice(self) -> slice:
        return slice(self.start, self.stop)


class FlatEvaluation:
    """The network of ``model`` in evaluation mode, for one vector after another: no parameter is passed by name."""

    def __init__(self, model: VectorModel) -> None:
        self._w = torch.zeros(model.size, dtype=model.dtype)
        self._module: nn.Module = copy.deepcopy(model.evaluating_module)
        start = 0
        for parameter in (p for p in self._module.parameters() if p.requires_grad):
            stop = start + parameter.numel()
            parameter.data = self._w[start:stop].view(parameter.shape)
            start = stop

    def __call__(self, w: Tensor, x: Tensor) -> Tensor:
        self._w.copy_(w)
        outputs: Tensor = self._module(x)
        return outputs


class FlatNetwork:
    """The network of ``model`` in training mode, its parameters laid into ``w``, which is written to between steps.

    Nothing is copied and no parameter is passed: a step costs what forward and backward cost.
    """

    def __init__(self, model: VectorModel, loops: Loops | None = None) -> None:
        self.w = torch.zeros(model.size, dtype=model.dtype)
        self.body, self.head = model.body, model.head
        self._gradient = torch.zeros(model.size, dtype=model.dtype)
        self._loops = loops
        self.module: nn.Module = copy.deepcopy(model.training_module)
        self._channels_last = _channels_last(self.module)
        self.pieces: list[Piece] = []
        self._parameters: list[nn.Parameter] = []
        places: dict[int, Place] = {}
        start = 0
        for parameter in (p for p in self.module.parameters() if p.requires_grad):
            stop = start + parameter.numel()
            parameter.data = self.w[start:stop].view(parameter.shape)
            self.pieces.append(Piece(start, stop, int(model.layer_of[start]) if stop > start else 0))
            self._parameters.append(parameter)
            places[id(parameter)] = Place(self._gradient[start:stop].view(parameter.shape), start, stop)
            start = stop
        self._chain = Chain.of(self.module, places)
        self._whole = self.stretch()

    def stretch(self, where: slice | None = None, *, by_layer: bool = False) -> "Stretch":
        """What gives the gradient by ``where``, or by all: in as few parts as can be, or in none that is in two layers."""
        start, stop = (0, len(self.w)) if where is None else (where.start, where.stop)
        chosen = [i for i, piece in enumerate(self.pieces) if start <= piece.start < stop]
        pieces = [self.pieces[i] for i in chosen]
        if self._chain is None:
            sought = [self._parameters[i] for i in chosen]
            others = [p for i, p in enumerate(self._parameters) if i not in chosen]
            return _ByAutograd(self.module, pieces, sought, others)
        parts = _by_layer(pieces) if by_layer else [Piece(start, stop, 0)]
        return _ByHand(self._chain, start, stop, self._gradient, parts, self._loops)

    def arranged(self, x: Tensor) -> Tensor:
        """The samples in the order in memory that suits the network."""
        if x.dim() != 4 or not self._channels_last:
            return x
        return torch.empty_like(x, memory_format=torch.channels_last).copy_(x)

    def loss_and_gradient(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """The mean loss, and its gradient in a tensor of its own."""
        loss, gradients = self._whole.run(x, y)
        return torch.as_tensor(loss, dtype=self.w.dtype), torch.cat(list(gradients))


def _by_layer(pieces: Sequence[Piece]) -> list[Piece]:
    """Neighbours in one layer, a weight and its bias, as one."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].layer == piece.layer:
            joined[-1] = Piece(joined[-1].start, piece.stop, piece.layer)
        else:
            joined.append(piece)
    return joined


def _channels_last(module: nn.Module) -> bool:
    """Whether a pixel's channels had better lie together.

    Pooling and depthwise convolutions are then much quicker, and others as quick as before; but the gradients of kernels
    come in another order than the vector's, and to put those of large networks straight costs more than was won.
    """
    convolutions = [part for part in module.modules() if isinstance(part, nn.Conv2d)]
    numbers = sum(part.weight.numel() for part in convolutions if part.kernel_size != (1, 1))
    return bool(convolutions) and numbers <= FEW_NUMBERS


def picked(x: Tensor, rows: Tensor) -> Tensor:
    """Some samples, as they lie in memory. ``index_select`` alone would put an image's channels one after another."""
    if x.dim() != 4 or not x.is_contiguous(memory_format=torch.channels_last) or x.stride(1) != 1:
        return x.index_select(0, rows)
    channels, height, width = x.shape[1:]
    lines = x.permute(0, 2, 3, 1).view(len(x), -1).index_select(0, rows)
    return lines.view(len(rows), height, width, channels).permute(0, 3, 1, 2)


class Stretch:
    """A stretch of the vector by which gradients are sought, everything else held fixed."""

    def __init__(self, parts: list[Piece]) -> None:
        self.parts = parts

    def gradients(self, x: Tensor, y: Tensor) -> Sequence[Tensor]:
        """Of the mean loss, one flat tensor for each of ``parts``; the next call may write over them."""
        return self.run(x, y)[1]

    def run(self, x: Tensor, y: Tensor) -> tuple[Tensor | float, Sequence[Tensor]]:
        """The mean loss too."""
        raise NotImplementedError

    def settle(self, x: Tensor, at_once: int) -> tuple[Tensor, "Stretch"]:
        """For who leaves the rest of the vector as it is: ``x`` after those layers that no longer change, and what goes on.

        So many samples are computed at once.
        """
        return x, self


class _ByAutograd(Stretch):
    def __init__(
        self, module: nn.Module, parts: list[Piece], parameters: list[nn.Parameter], others: list[nn.Parameter]
    ) -> None:
        super().__init__(parts)
        self._module, self._parameters, self._others = module, parameters, others

    def run(self, x: Tensor, y: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        for parameters, sought in ((self._parameters, True), (self._others, False)):
            for parameter in parameters:
                parameter.requires_grad_(sought)  # what lies before the first that is sought is then not even recorded
        with torch.enable_grad():
            loss = F.cross_entropy(self._module(x), y)
            found = torch.autograd.grad(loss, self._parameters)
        return loss.detach(), [gradient.reshape(-1) for gradient in found]


class _ByHand(Stretch):
    def __init__(
        self, chain: Chain, start: int, stop: int, gradient: Tensor, parts: list[Piece], loops: Loops | None
    ) -> None:
        super().__init__(parts)
        self._route = chain.route(start, stop)
        self._gradients = [gradient[part.slice] for part in parts]
        self._loss = cross_entropy if loops is None else _compiled_cross_entropy(loops)

    def run(self, x: Tensor, y: Tensor) -> tuple[Tensor | float, Sequence[Tensor]]:
        for link in self._route.frozen:
            x = link.forth(x)
        return run(self._route, x, y, self._loss), self._gradients

    def settle(self, x: Tensor, at_once: int) -> tuple[Tensor, Stretch]:
        if not self._route.frozen:
            return x, self
        done = []
        for rows in torch.split(torch.arange(len(x)), at_once):
            part = picked(x, rows)
            for link in self._route.frozen:
                part = link.forth(part)
            if part.nbytes * len(x) > MOST_BYTES * len(rows):
                return x, self
            done.append(part)
        onward = copy.copy(self)
        onward._route = self._route._replace(frozen=[])
        return torch.cat(done), onward


def _compiled_cross_entropy(loops: Loops) -> Any:
    def loss_of(scores: Tensor, y: Tensor) -> tuple[float, Tensor]:
        slope = torch.empty_like(scores)
        return loops.cross_entropy(scores.numpy(), y.numpy(), slope.numpy()), slope

    return loss_of


class _Loss(torch.autograd.Function):
    """The loss as a function of the whole vector; its gradient was found with it, so it can be differentiated once."""

    @staticmethod
    def forward(ctx: Any, w: Tensor, loss: Tensor, gradient: Tensor) -> Tensor:
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream, None, None


class FlatTask:
    """A network's loss as a function of the vector, and the gradients of what is made of it, for one client at a time."""

    def __init__(self, network: FlatNetwork) -> None:
        self._network = network
        self._last: tuple[Tensor, Tensor, Tensor] | None = None

    def loss(self, w: Weights, batch: Batch) -> Tensor:
        w = w if isinstance(w, Tensor) else torch.cat(w)
        self._network.w.copy_(w.detach())
        value, gradient = self._network.loss_and_gradient(batch.x, batch.y)
        loss: Tensor = _Loss.apply(w, value, gradient)  # type: ignore[no-untyped-call]
        self._last = (w, loss, gradient)
        return loss

    def gradients(self, loss: Callable[..., Tensor], *at: Tensor) -> tuple[Tensor, ...]:
        """As ``autograd_gradients``; but of this loss itself the gradient is known already."""
        self._last = None
        with torch.enable_grad():
            leaves = [w.detach().requires_grad_() for w in at]
            value = loss(*leaves)
            if self._last is not None and self._last[1] is value and [id(self._last[0])] == [id(w) for w in leaves]:
                return (self._last[2],)
            return torch.autograd.grad(value, leaves)
