"""How exactly products of matrices are computed on a GPU. States and sums stay in single precision in all of these."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, get_args

import torch
from torch import Tensor

from superfed.core.batch import Batch, mean_cross_entropy
from superfed.core.errors import SettingError
from superfed.core.vector import VectorModel, Weights

Precision = Literal["float32", "tf32", "bf16"]
"""``tf32`` rounds the factors of products to 10 bits after the point; ``bf16`` runs networks in 7 bits, weights aside."""


def check_precision(precision: str, device: torch.device) -> None:
    if precision not in get_args(Precision):
        raise SettingError("precision", f"must be float32, tf32 or bf16, not {precision!r}")
    if precision != "float32" and device.type != "cuda":
        raise SettingError("precision", f"{precision} needs a CUDA device, and this is {device}; use float32")


@contextmanager
def products_in(precision: Precision) -> Iterator[None]:
    """Let torch's own products and convolutions on a GPU be as exact as was asked, inside the block."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, cudnn.allow_tf32
    matmul.allow_tf32 = cudnn.allow_tf32 = precision == "tf32"
    try:
        yield
    finally:
        matmul.allow_tf32, cudnn.allow_tf32 = before


def loss_in(precision: Precision, model: VectorModel) -> Callable[[Weights, Batch], Tensor] | None:
    """The loss where it is not the model's own: the network in bfloat16, the loss itself in single precision."""
    if precision != "bf16":
        return None

    def loss(w: Weights, batch: Batch) -> Tensor:
        short = w.bfloat16() if isinstance(w, Tensor) else tuple(stretch.bfloat16() for stretch in w)
        x = batch.x.bfloat16() if batch.x.is_floating_point() else batch.x
        weight = None if batch.weight is None else batch.weight.bfloat16()
        scores = model.apply(short, x, training=True, weight=weight)
        return mean_cross_entropy(scores.float(), batch)

    return loss
