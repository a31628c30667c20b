"""What a site counts and measures, read with care: only numbers, and no more of them than make sense."""

import json
import math
from dataclasses import dataclass
from typing import Any

from superfed.deploy.flower.wire.refusal import Refusal

MOST_POINTS = 1001
WRONG = (ValueError, KeyError, TypeError, RecursionError)


@dataclass(frozen=True)
class Holdings:
    """Of what shape a site's inputs are, and how many classes its labels need."""

    classes: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Scores:
    """A site's personal accuracy on its test samples, at the λ it chose on its validation samples; NaN is None."""

    lam: float | None
    accuracy: float | None
    validation: int
    test: int
    by_lambda: tuple[tuple[float | None, float | None], ...]


def read_holdings(text: str) -> Holdings:
    try:
        told = json.loads(text)
        shape = tuple(_whole(n, 1) for n in list(told["shape"])[:8])
        return Holdings(_whole(told["classes"], 1), shape)
    except WRONG:
        raise Refusal("what it says of its samples cannot be used") from None


def read_scores(text: str) -> Scores:
    try:
        told = json.loads(text)
        points = list(told["by_lambda"])[:MOST_POINTS]
        return Scores(
            _share(told["lam"]),
            _share(told["accuracy"]),
            _whole(told["validation"], 0),
            _whole(told["test"], 0),
            tuple((_share(lam), _share(accuracy)) for lam, accuracy in points),
        )
    except WRONG:
        raise Refusal("what it says of its accuracy cannot be used") from None


def _whole(value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**31:
        raise ValueError
    return value


def _share(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value <= 1:
        raise ValueError
    return float(value)
