"""A pooled dataset: every sample of every client, before anything is dealt."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from superfed.core.errors import UserError
from superfed.data.fingerprint import fingerprint

INPUT_TYPES = (torch.uint8, torch.int64, torch.float16, torch.float32, torch.float64)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Inputs ``x`` [N, *input_shape] and labels ``y`` [N].

    ``x`` is kept in its small type and becomes float32 times ``scale`` only when it is handed out; int64 is text and is
    handed out as it is.
    """

    name: str
    x: Tensor
    y: Tensor
    num_classes: int
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.x.dtype not in INPUT_TYPES:
            raise UserError(f"{self.name}: inputs must be uint8, int64 or floating point, not {self.x.dtype}")
        if self.y.dtype != torch.int64 or self.y.dim() != 1:
            raise UserError(f"{self.name}: labels must be one int64 number per sample")
        if len(self.x) != len(self.y) or len(self.y) == 0:
            raise UserError(f"{self.name}: needs as many inputs as labels, got {len(self.x)} and {len(self.y)}")
        low, high = int(self.y.min()), int(self.y.max())
        if low < 0 or high >= self.num_classes:
            raise UserError(
                f"{self.name}: labels run from {low} to {high}, but {self.num_classes} classes are "
                f"0 to {self.num_classes - 1}"
            )

    def __len__(self) -> int:
        return len(self.y)

    @property
    def input_shape(self) -> tuple[int, ...]:
        return tuple(self.x.shape[1:])

    def inputs(self, rows: npt.NDArray[np.int64]) -> Tensor:
        """The inputs of these rows as a network takes them: a fresh contiguous tensor."""
        chosen = self.x[torch.from_numpy(rows)]
        if chosen.dtype == torch.int64:
            return chosen
        chosen = chosen.to(torch.float32)
        return chosen if self.scale == 1.0 else chosen.mul_(self.scale)

    def digest(self) -> str:
        """Sha256 of the contents; the name is not part of it."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        return fingerprint(self.x.numpy(), self.y.numpy(), self.scale, self.num_classes)
