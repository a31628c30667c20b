"""Student's t distribution with whole degrees of freedom, by its finite sums (Abramowitz and Stegun 26.7.3 and 26.7.4)."""

from math import atan, cos, pi, sin, sqrt


def two_sided(t: float, degrees: int) -> float:
    """How likely a value at least as far from 0 is."""
    if degrees < 1:
        raise ValueError(f"there are no {degrees} degrees of freedom")
    angle = atan(abs(t) / sqrt(degrees))
    within = _odd(angle, degrees) if degrees % 2 else _even(angle, degrees)
    return min(max(1 - within, 0.0), 1.0)


def _odd(angle: float, degrees: int) -> float:
    total, term = 0.0, cos(angle)
    for number in range(3, degrees + 1, 2):
        total += term
        term *= (number - 1) / number * cos(angle) ** 2
    return 2 / pi * (angle + sin(angle) * total)


def _even(angle: float, degrees: int) -> float:
    total, term = 0.0, 1.0
    for number in range(2, degrees + 1, 2):
        total += term
        term *= (number - 1) / number * cos(angle) ** 2
    return sin(angle) * total
