"""A network whose parameters are pieces of one vector: the quickest way to a gradient for one client on a CPU."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from superfed.core.chain import Chain
from superfed.core.vector import VectorModel


@dataclass(frozen=True)
class Piece:
    """One parameter's place in the vector, and the layer it belongs to."""

    start: int
    stop: int
    layer: int

    @property
    def slice(self) -> slice:
        return slice(self.start, self.stop)


class FlatNetwork:
    """The network of ``model`` in training mode, its parameters laid into ``w``, which is written to between steps.

    Nothing is copied and no parameter is passed: a step costs what forward and backward cost.
    """

    def __init__(self, model: VectorModel) -> None:
        self.w = torch.zeros(model.size, dtype=model.dtype)
        self._gradient = torch.zeros(model.size, dtype=model.dtype)
        self.module: nn.Module = copy.deepcopy(model.training_module)
        self.pieces: list[Piece] = []
        self._parameters: list[nn.Parameter] = []
        start = 0
        for parameter in (p for p in self.module.parameters() if p.requires_grad):
            stop = start + parameter.numel()
            parameter.data = self.w[start:stop].view(parameter.shape)
            self.pieces.append(Piece(start, stop, int(model.layer_of[start]) if stop > start else 0))
            self._parameters.append(parameter)
            start = stop
        places = zip(self._parameters, self.pieces, strict=True)
        self._chain = Chain.of(self.module, {id(p): self._gradient[piece.slice].view(p.shape) for p, piece in places})

    def parts(self, *, by_layer: bool) -> list[Piece]:
        """The pieces that gradients come in: as few as can be, or none that is in two layers."""
        return self.pieces if by_layer or self._chain is None else [Piece(0, len(self.w), 0)]

    def gradients(self, x: Tensor, y: Tensor, parts: list[Piece]) -> Sequence[Tensor]:
        """Of the mean loss, one flat tensor for each of ``parts``; the next call may write over them."""
        if self._chain is not None:
            self._chain.run(x, y)
            return [self._gradient[part.slice] for part in parts]
        return self._by_autograd(x, y)[1]

    def loss_and_gradient(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """The mean loss, and its gradient in a tensor of its own."""
        if self._chain is not None:
            return self._chain.run(x, y), self._gradient.clone()
        loss, gradients = self._by_autograd(x, y)
        return loss, torch.cat(gradients)

    def _by_autograd(self, x: Tensor, y: Tensor) -> tuple[Tensor, list[Tensor]]:
        with torch.enable_grad():
            loss = F.cross_entropy(self.module(x), y)
            found = torch.autograd.grad(loss, self._parameters)
        return loss.detach(), [gradient.reshape(-1) for gradient in found]


class _Loss(torch.autograd.Function):
    """The loss as a function of the whole vector; its gradient is found at once, so it can be differentiated once."""

    @staticmethod
    def forward(ctx: Any, w: Tensor, network: FlatNetwork, x: Tensor, y: Tensor) -> Tensor:
        network.w.copy_(w)
        loss, gradient = network.loss_and_gradient(x, y)
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient.mul_(upstream), None, None, None


def flat_loss(network: FlatNetwork, w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    loss: Tensor = _Loss.apply(w, network, x, y)  # type: ignore[no-untyped-call]
    return loss
