"""Which λ is reported. "Best averaged accuracy" can be read in several ways; each has its own name here.

- ``validated``: each client's λ chosen on a validation part of its own training data. The honest figure.
- ``validated_shared``: one λ for all, chosen by the mean over clients on validation data.
- ``best_shared``: one λ for all, the best by the mean over clients on test data.
- ``oracle``: each client's λ chosen on its test data. An upper bound, not to be had in practice.
- ``fixed``: λ = 0.5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

READINGS = ("validated", "validated_shared", "best_shared", "oracle", "fixed")
FIXED_LAMBDA = 0.5

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Curves:
    """Accuracy and loss ``[clients, λ]`` on validation and test data; NaN for clients that have none."""

    lambdas: Sequence[float]
    validation_top1: Floats
    validation_loss: Floats
    test_top1: Floats


def choose(curves: Curves) -> Mapping[str, Indices]:
    """For every reading, the index of each client's λ."""
    num_clients, num_lambdas = curves.test_top1.shape
    fixed = int(np.argmin(np.abs(np.asarray(curves.lambdas) - FIXED_LAMBDA))) if num_lambdas > 1 else 0

    def shared(index: int) -> Indices:
        return np.full(num_clients, index, dtype=np.int64)

    validated = shared(fixed)
    known = ~np.isnan(curves.validation_top1).any(axis=1)
    validated[known] = _best(curves.validation_top1[known], curves.validation_loss[known])
    return {
        "validated": validated,
        "validated_shared": shared(_best_shared(curves.validation_top1, curves.validation_loss, fixed)),
        "best_shared": shared(_best_shared(curves.test_top1, None, fixed)),
        "oracle": _best(np.nan_to_num(curves.test_top1), np.zeros_like(curves.test_top1)),
        "fixed": shared(fixed),
    }


def _best(top1: Floats, loss: Floats) -> Indices:
    """Per row the highest accuracy; of equals the lowest loss, then the smallest λ."""
    tied = top1 == top1.max(axis=1, keepdims=True)
    best: Indices = np.where(tied, np.nan_to_num(loss, nan=np.inf), np.inf).argmin(axis=1)
    return best


def best_place(top1: Floats, loss: Floats, by: Literal["accuracy", "loss"]) -> int:
    """The best of one client's models: by accuracy, as ``validated`` is; or by loss, and of equals by accuracy.

    Of what is equal in both, the smallest λ.
    """
    first, second = (-top1, loss) if by == "accuracy" else (loss, -top1)
    return int(np.lexsort((second, first))[0])


def _best_shared(top1: Floats, loss: Floats | None, otherwise: int) -> int:
    known = ~np.isnan(top1).any(axis=1)
    if not known.any():
        return otherwise
    mean_loss = np.zeros((1, top1.shape[1])) if loss is None else loss[known].mean(axis=0, keepdims=True)
    return int(_best(top1[known].mean(axis=0, keepdims=True), mean_loss)[0])


def picked(values: Floats, choice: Indices) -> Floats:
    """Each client's value at its chosen λ."""
    return values[np.arange(len(values)), choice]
