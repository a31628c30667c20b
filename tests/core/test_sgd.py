"""SGD as a pure function is torch's own, step by step."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from superfed.core.sgd import SGD

STEPS = 7


def ours(start: Tensor, gradients: Tensor, lr: float, momentum: float, weight_decay: float) -> Tensor:
    sgd = SGD(*(torch.tensor(value, dtype=start.dtype) for value in (lr, momentum, weight_decay)))
    w, velocity = start, torch.zeros_like(start)
    for gradient in gradients:
        w, velocity = sgd(w, gradient, velocity)
    return w


def torchs(start: Tensor, gradients: Tensor, lr: float, momentum: float, weight_decay: float) -> Tensor:
    w = start.clone().requires_grad_()
    optimiser = torch.optim.SGD([w], lr=lr, momentum=momentum, weight_decay=weight_decay)
    for gradient in gradients:
        w.grad = gradient.clone()
        optimiser.step()
    return w.detach()


def problem(seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(STEPS + 1, 5, dtype=torch.float64, generator=generator)
    return drawn[0], drawn[1:]


@given(
    seed=st.integers(0, 1000),
    lr=st.floats(1e-4, 1.0),
    momentum=st.floats(0, 0.99),
    weight_decay=st.floats(0, 0.1),
)
@settings(deadline=None)
def test_several_steps_are_those_of_torch(seed: int, lr: float, momentum: float, weight_decay: float) -> None:
    start, gradients = problem(seed)
    args = (lr, momentum, weight_decay)
    torch.testing.assert_close(ours(start, gradients, *args), torchs(start, gradients, *args), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("wrong", [(0.11, 0.9, 1e-2), (0.1, 0.8, 1e-2), (0.1, 0.9, 0.0)])
def test_any_other_setting_gives_other_weights(wrong: tuple[float, float, float]) -> None:
    start, gradients = problem(0)
    assert not torch.allclose(ours(start, gradients, *wrong), torchs(start, gradients, 0.1, 0.9, 1e-2), rtol=1e-4)


def test_nothing_given_is_changed() -> None:
    start, gradients = problem(1)
    velocity = torch.ones_like(start)
    before = [t.clone() for t in (start, gradients[0], velocity)]
    sgd = SGD(torch.tensor(0.1), torch.tensor(0.9), torch.tensor(0.01))
    w, after = sgd(start, gradients[0], velocity)
    assert all(torch.equal(b, t) for b, t in zip(before, (start, gradients[0], velocity), strict=True))
    assert not torch.equal(w, start)
    assert not torch.equal(after, velocity)


def test_each_lane_may_have_its_own_rate() -> None:
    start, gradients = problem(2)
    rates = torch.tensor([0.1, 0.5], dtype=torch.float64)
    zero = torch.tensor(0.0, dtype=torch.float64)

    def step(rate: Tensor) -> Tensor:
        return SGD(rate, zero, zero)(start, gradients[0], torch.zeros_like(start))[0]

    together = torch.func.vmap(step)(rates)
    assert torch.equal(together, torch.stack([step(rate) for rate in rates]))
