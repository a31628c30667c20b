"""Loops that any method's steps are made of, compiled by numba where it is installed: a second way to the same numbers.

At ten samples a batch one of torch's calls costs as much as what it computes, and a loss is eight of them; and each of
torch's calls goes once more over all parameters, of which a step of SGD needs three.
"""

from collections.abc import Callable
from functools import cache
from math import exp, log
from typing import Any, NamedTuple

import numpy as np
import torch

LIBERTIES = {"reassoc", "contract", "arcp", "nsz"}
"""Only such as keep NaN and infinity what they are."""


class Loops(NamedTuple):
    cross_entropy: Callable[..., float]
    """``(scores, y, slope)``: the mean cross entropy; its gradient is written to ``slope``."""
    sgd: Callable[..., None]
    """``(w, gradient, velocity, new_w, new_velocity, lr, momentum, weight_decay)``: the next ones are written."""


@cache
def loops() -> Loops:
    import numba

    compiled = numba.njit(fastmath=LIBERTIES, error_model="numpy")

    @compiled
    def cross_entropy(scores: Any, y: Any, slope: Any) -> Any:
        rows, classes = scores.shape
        loss = 0.0
        for row in range(rows):
            if not 0 <= y[row] < classes:
                raise IndexError("a class that the network has no score for")
            top = scores[row, 0]
            for k in range(1, classes):
                top = max(top, scores[row, k])
            total = 0.0
            for k in range(classes):
                power = exp(scores[row, k] - top)
                slope[row, k] = power
                total += power
            for k in range(classes):
                slope[row, k] /= total * rows
            slope[row, y[row]] -= 1 / rows
            loss += log(total) - (scores[row, y[row]] - top)
        return loss / rows

    @compiled
    def sgd(
        w: Any, gradient: Any, velocity: Any, new_w: Any, new_velocity: Any, lr: Any, momentum: Any, weight_decay: Any
    ) -> None:
        for i in range(w.size):
            speed = momentum * velocity[i] + (gradient[i] + weight_decay * w[i])
            new_velocity[i] = speed
            new_w[i] = w[i] - lr * speed

    return Loops(cross_entropy, sgd)


def compile_loops(dtype: torch.dtype) -> None:
    """Have them compiled, so that processes forked after this need not do it each for itself."""
    square = torch.ones(1, 1, dtype=dtype).numpy()
    line, number = square[0], square.dtype.type(0)
    loops().cross_entropy(square, np.zeros(1, np.int64), square.copy())
    loops().sgd(line, line, line, line.copy(), line.copy(), number, number, number)
