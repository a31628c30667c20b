"""SGD with momentum on one vector, in place and in one pass: what most methods' steps are made of."""

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from superfed.algorithms.fused.kernels import kernels
from superfed.core.flat import Piece
from superfed.core.fused import Steps


class Pull(NamedTuple):
    """What joins the gradient besides weight decay: ``strength`` times the distance from ``to``."""

    to: Tensor
    strength: float


class Descent:
    """Moves ``w`` and ``velocity``, which it writes to, by gradients that come in ``parts``.

    ``pull`` and ``shift``, a vector that joins the gradient as it is, exclude each other.
    """

    def __init__(
        self,
        parts: Sequence[Piece],
        w: Tensor,
        velocity: Tensor,
        steps: Steps,
        *,
        pull: Pull | None = None,
        shift: Tensor | None = None,
    ) -> None:
        there = shift if pull is None else pull.to
        rates = (0.0 if shift is None else -1.0, 0.0) if pull is None else (pull.strength, 1.0)
        self._number = w.numpy().dtype.type
        self._rates = [self._number(v) for v in (*rates, steps.weight_decay, steps.lr, steps.momentum)]
        first = parts[0].start if parts else 0
        self._cut = [
            [None if v is None else v.numpy()[part.start - first : part.stop - first] for v in (w, velocity, there)]
            for part in parts
        ]
        self._step = kernels().sgd

    def __call__(self, gradients: Sequence[Tensor], share: float = 1.0) -> None:
        """One step; ``share`` of the gradients counts."""
        number = self._number(share)
        for (w, velocity, there), found in zip(self._cut, gradients, strict=True):
            gradient = found.numpy()
            self._step(w, velocity, gradient, gradient if there is None else there, number, *self._rates)
