"""Mini-batches: which samples a client sees in which order, and the loss over a batch that may be padded."""

from dataclasses import dataclass

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


def num_batches(num_samples: int, batch_size: int) -> int:
    """Batches in an epoch: the last may be smaller, and none is left out."""
    return -(-num_samples // batch_size)


def batch_table(orders: NDArray[np.int64], batch_size: int) -> NDArray[np.int64]:
    """The orders cut into batches, ``[steps, batch_size]``, with -1 where the last batch of an epoch is short."""
    epochs, num_samples = orders.shape
    per_epoch = num_batches(num_samples, batch_size)
    table = np.full((epochs, per_epoch * batch_size), -1, dtype=np.int64)
    table[:, :num_samples] = orders
    return table.reshape(epochs * per_epoch, batch_size)
