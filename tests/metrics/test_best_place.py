"""One client's choice among its models."""

import numpy as np

from superfed.metrics.readings import Curves, best_place, choose


def test_by_accuracy_it_is_what_validated_chooses() -> None:
    rng = np.random.default_rng(0)
    lambdas = [i / 10 for i in range(11)]
    for _ in range(200):
        top1, loss = rng.integers(0, 4, 11) / 4, rng.integers(0, 3, 11) / 2
        curves = Curves(lambdas, top1[None], loss[None], top1[None])
        assert best_place(top1, loss, "accuracy") == choose(curves)["validated"][0]


def test_by_loss_accuracy_decides_between_equals_and_then_the_smallest() -> None:
    loss = np.array([0.3, 0.1, 0.1, 0.1, np.nan, np.inf])
    assert best_place(np.array([1.0, 0.5, 0.7, 0.7, 1.0, 1.0]), loss, "loss") == 2
    assert best_place(np.full(6, 0.5), loss, "loss") == 1
