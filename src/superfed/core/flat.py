"""A network whose parameters are pieces of one vector: the quickest way to a gradient for one client on a CPU."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
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
        with torch.enable_grad():
            loss = F.cross_entropy(self.module(x), y)
            found = torch.autograd.grad(loss, self._parameters)
        return [gradient.reshape(-1) for gradient in found]
