"""Mini-batches: which samples a client sees in which order, and the loss over a batch that may be padded."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True)
class Batch:
    """Samples, and a weight for each: 1, or 0 for padding. ``None`` means that all count, as without padding."""

    x: Tensor
    y: Tensor
    weight: Tensor | None = None

    @property
    def size(self) -> Tensor:
        """How many samples count."""
        return torch.tensor(len(self.y), device=self.y.device) if self.weight is None else self.weight.sum()


def mean_cross_entropy(scores: Tensor, batch: Batch) -> Tensor:
    """The mean over the batch's real samples."""
    if batch.weight is None:
        return F.cross_entropy(scores, batch.y)
    losses = F.cross_entropy(scores, batch.y, reduction="none")
    return (losses * batch.weight).sum() / batch.weight.sum().clamp_min(1)


def epoch_orders(num_samples: int, epochs: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A fresh order of the client's samples for each epoch, ``[epochs, num_samples]``."""
    return rng.permuted(np.tile(np.arange(num_samples), (epochs, 1)), axis=1)


LastBatch = Literal["keep", "drop", "even"]
"""What becomes of the samples that are left over when an epoch is cut into batches."""


def num_batches(num_samples: int, batch_size: int, last: LastBatch = "keep") -> int:
    """In an epoch. The only batch of a client with fewer samples than that is never left out."""
    whole, rest = divmod(num_samples, batch_size)
    return whole if last == "drop" and whole else whole + (rest > 0)


def batch_sizes(num_samples: int, batch_size: int, last: LastBatch = "keep") -> NDArray[np.int64]:
    """How many samples each batch of an epoch has.

    Of 7 samples in batches of 3: ``keep`` makes 3, 3, 1, ``drop`` 3, 3, and ``even`` 3, 2, 2.
    """
    batches = np.arange(num_batches(num_samples, batch_size, last))
    if last == "even" and len(batches):
        smaller, larger = divmod(num_samples, len(batches))
        return smaller + (batches < larger).astype(np.int64)
    return np.minimum(num_samples - batches * batch_size, batch_size)


def batch_table(orders: NDArray[np.int64], batch_size: int, last: LastBatch = "keep") -> NDArray[np.int64]:
    """The orders cut into batches, ``[steps, batch_size]``, with -1 where a batch is short."""
    epochs, num_samples = orders.shape
    sizes = batch_sizes(num_samples, batch_size, last)
    table = np.full((epochs, len(sizes), batch_size), -1, dtype=np.int64)
    table[:, np.arange(batch_size) < sizes[:, None]] = orders[:, : sizes.sum()]
    return table.reshape(epochs * len(sizes), batch_size)
