"""What leaves a client is no longer than said, has as much noise as said, and its cost is no less than the exact one."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import brentq
from scipy.stats import norm

from superfed.core.privacy import Privacy
from superfed.core.state import State
from superfed.metrics.privacy_spent import epsilon

SENT: State = {"w": torch.arange(3.0), "c": torch.ones(2)}


def moved_by(length: float) -> State:
    step = length / math.sqrt(5)
    return {name: t + step for name, t in SENT.items()}


def change(state: State) -> torch.Tensor:
    return torch.cat([state[name] - SENT[name] for name in SENT])


@pytest.mark.parametrize(("length", "left"), [(0.5, 0.5), (2.0, 1.0), (1e6, 1.0), (0.0, 0.0)])
def test_changes_are_shortened_all_vectors_together(length: float, left: float) -> None:
    found = Privacy(clip=1.0, noise=0.0).leaving(moved_by(length), SENT, False, np.random.default_rng(0))
    assert float(change(found).norm()) == pytest.approx(left, abs=1e-5)
    assert {name: t.dtype for name, t in found.items()} == dict.fromkeys(SENT, torch.float32)


def test_of_a_method_that_sends_changes_they_are_shortened_as_they_are() -> None:
    found = Privacy(clip=1.0, noise=0.0).leaving({"w": torch.tensor([3.0, 4.0])}, SENT, True, np.random.default_rng(0))
    assert torch.allclose(found["w"], torch.tensor([0.6, 0.8]))


def test_noise_is_as_large_as_said() -> None:
    sent = {"w": torch.zeros(200_000)}
    found = Privacy(clip=2.0, noise=1.5).leaving(sent, sent, False, np.random.default_rng(0))
    assert float(found["w"].std()) == pytest.approx(3.0, rel=0.01)
    assert float(found["w"].mean()) == pytest.approx(0.0, abs=0.05)


def exact(noise: float, times: int, delta: float) -> float:
    """So many Gaussian mechanisms are one with less noise, whose ε is known (Balle and Wang, 2018)."""
    m = math.sqrt(times) / noise
    return float(brentq(lambda e: norm.cdf(m / 2 - e / m) - math.exp(e) * norm.cdf(-m / 2 - e / m) - delta, 0, 500))


@pytest.mark.parametrize(("noise", "times"), [(1.0, 1), (1.0, 10), (4.0, 50), (10.0, 500)])
def test_what_is_reported_is_no_less_than_what_is_spent_and_not_much_more(noise: float, times: int) -> None:
    spent = exact(noise, times, 1e-5)
    assert spent <= epsilon(noise, times, 1e-5) <= 1.15 * spent


def test_the_ends() -> None:
    assert epsilon(1.0, 0, 1e-5) == 0
    assert epsilon(0.0, 3, 1e-5) == math.inf
