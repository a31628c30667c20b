"""The few formulas that methods share. Products are written ``(a * b).sum()``: batched over lanes, ``a @ b`` is slow."""

import torch
from torch import Tensor


def sq_norm(w: Tensor) -> Tensor:
    return (w * w).sum()


def cos_squared(a: Tensor, b: Tensor) -> Tensor:
    """The squared cosine between two vectors; 0, not NaN, where one of them is zero."""
    tiny = torch.finfo(a.dtype).tiny
    inner = (a * b).sum()
    return inner * inner / (sq_norm(a) * sq_norm(b)).clamp_min(tiny)


def weighted_mean(vectors: Tensor, weights: Tensor) -> Tensor:
    """The mean of the rows of ``vectors`` by ``weights``, in the order of the rows."""
    shares = (weights.double() / weights.double().sum()).to(vectors)
    return (shares.view(-1, *[1] * (vectors.dim() - 1)) * vectors).sum(dim=0)
