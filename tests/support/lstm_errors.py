"""How far off a way to compute LSTM cells is."""

from collections.abc import Iterable, Iterator
from math import inf, isnan

import torch
from torch import Tensor

from superfed.core.lane_ops import lstm


def some(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def relative_errors(
    steps: lstm.StepsOf, sizes: tuple[int, int, int, int], dtype: torch.dtype, device: str
) -> Iterator[float]:
    """Of everything computed on the way there and back, against the same in double precision on a CPU.

    The weights are slices of longer rows, as those of a network in a vector are.
    """
    lanes, time, rows, units = sizes
    inputs = some(lanes, time, rows, 4 * units, seed=1).to(dtype)
    vector = (some(lanes, 4 * units * units + 8, seed=2) / units**0.5).to(dtype)
    gradient = some(lanes, time, rows, units, seed=3).to(dtype)

    def there_and_back(steps: lstm.StepsOf, inputs: Tensor, vector: Tensor, gradient: Tensor) -> tuple[Tensor, ...]:
        w_hh = vector[:, 8:].view(lanes, 4 * units, units)
        saved = lstm.forward(inputs, w_hh, steps)
        return *saved, *lstm.backward(gradient, w_hh, *saved, steps)

    found = there_and_back(steps, inputs.to(device), vector.to(device), gradient.to(device))
    expected = there_and_back(lstm.TorchSteps, inputs.double(), vector.double(), gradient.double())
    for own, exact in zip(found, expected, strict=True):
        assert own.shape == exact.shape
        yield ((own.cpu().double() - exact).norm() / exact.norm().clamp_min(1e-30)).item()


def largest(errors: Iterable[float]) -> float:
    """What is not a number is worse than any."""
    return max(inf if isnan(error) else error for error in errors)
