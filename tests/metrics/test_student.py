"""Student's t against tables and against itself."""

import math

import pytest

from superfed.metrics.student import two_sided


@pytest.mark.parametrize(
    ("t", "degrees"), [(12.706, 1), (4.303, 2), (3.182, 3), (2.776, 4), (2.571, 5), (2.228, 10), (2.042, 30)]
)
def test_the_well_known_limits_of_five_percent(t: float, degrees: int) -> None:
    assert two_sided(t, degrees) == pytest.approx(0.05, abs=2e-4)
    assert two_sided(-t, degrees) == two_sided(t, degrees)


@pytest.mark.parametrize("degrees", [1, 2, 3, 7, 8])
def test_it_is_the_integral_of_its_density(degrees: int) -> None:
    factor = math.gamma((degrees + 1) / 2) / math.sqrt(degrees * math.pi) / math.gamma(degrees / 2)
    steps, limit = 20_000, 1.7
    width = limit / steps
    middle = ((i + 0.5) * width for i in range(steps))
    within = 2 * width * factor * sum((1 + x * x / degrees) ** (-(degrees + 1) / 2) for x in middle)
    assert two_sided(limit, degrees) == pytest.approx(1 - within, abs=1e-7)


def test_the_ends() -> None:
    assert two_sided(0.0, 4) == 1.0
    assert two_sided(math.inf, 4) == pytest.approx(0.0)
    assert two_sided(1.96, 10_000) == pytest.approx(0.05, abs=1e-3)
    with pytest.raises(ValueError, match="no 0 degrees"):
        two_sided(1.0, 0)
