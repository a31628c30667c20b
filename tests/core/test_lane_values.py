"""Which hyperparameters may differ between runs that are computed together, and which may not."""

from dataclasses import dataclass

import pytest
import torch

from superfed.algorithms import FedAvg, FedProx, SuPerFed
from superfed.core.algorithm import Algorithm, autograd_gradients, functional_gradients, host_only


@dataclass(frozen=True)
class Made(Algorithm):
    rate: float = 0.5
    steps: int = 3
    share: float | int = 0.25
    when: float = host_only(0.1)
    kind: str = "a"


def test_numbers_are_lane_values() -> None:
    assert SuPerFed(mu=0.1, nu=2).lane_values() == {"mu": 0.1, "nu": 2.0}
    assert FedProx(mu=1).lane_values() == {"mu": 1.0}
    assert FedAvg().lane_values() == {}
    assert Made().lane_values() == {"rate": 0.5, "when": 0.1}
    assert all(type(value) is float for value in SuPerFed(nu=2).lane_values().values())


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        (SuPerFed(mu=0.1, nu=1), SuPerFed(mu=0.2, nu=2), True),
        (SuPerFed(start=0.4), SuPerFed(start=7), True),
        (SuPerFed(mixing="model"), SuPerFed(mixing="layer"), False),
        (FedProx(mu=0.1), FedProx(mu=0.2), True),
        (FedAvg(), FedAvg(), True),
        (FedAvg(), FedProx(mu=0), False),
        (FedAvg(), SuPerFed(), False),
        (Made(rate=1, when=1), Made(rate=2, when=2), True),
        (Made(steps=1), Made(steps=2), False),
        (Made(share=1), Made(share=0.5), False),
        (Made(kind="a"), Made(kind="b"), False),
    ],
)
def test_runs_share_a_program_if_only_numbers_differ(one: Algorithm, other: Algorithm, together: bool) -> None:
    assert (one.shape_key() == other.shape_key()) is together
    assert len({one.shape_key(), other.shape_key()}) == 2 - together


def test_the_key_names_what_decides_the_shape() -> None:
    assert SuPerFed(mixing="layer").shape_key() == (SuPerFed, ("mixing", "layer"))
    assert FedProx(mu=0.1).shape_key() == (FedProx,)


def test_tensors_take_the_numbers_places() -> None:
    method = SuPerFed(mu=0.1, nu=2.0, mixing="layer", start=7)
    lane = method.with_lane_values({"mu": torch.tensor(0.3), "nu": torch.tensor(-1.0)})
    assert torch.is_tensor(lane.mu)
    assert torch.is_tensor(lane.nu)
    assert (lane.mixing, lane.start, type(lane)) == ("layer", 7, SuPerFed)
    assert (method.mu, method.nu) == (0.1, 2.0)


def test_both_kinds_of_gradient_agree() -> None:
    a, b = torch.tensor([1.0, 2.0]).double(), torch.tensor([3.0, -1.0]).double()

    def loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x * x * y).sum() + y.sum()

    for gradients in (autograd_gradients, functional_gradients):
        at_a, at_b = gradients(loss, a, b)
        torch.testing.assert_close(at_a, 2 * a * b, rtol=0, atol=1e-15)
        torch.testing.assert_close(at_b, a * a + 1, rtol=0, atol=1e-15)
        assert not a.requires_grad
    with torch.no_grad():
        (one,) = autograd_gradients(lambda x: loss(x, b), a)
    torch.testing.assert_close(one, 2 * a * b, rtol=0, atol=1e-15)
