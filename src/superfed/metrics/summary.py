"""One number per client, told in a few: mean, spread, and how the worst-off fare."""

import numpy as np
from numpy.typing import NDArray

WORST_SHARE = 0.1


def summarise(values: NDArray[np.float64]) -> dict[str, float]:
    """Mean, population standard deviation, extremes and the mean of the lowest tenth, over clients that have a value."""
    known = np.sort(values[~np.isnan(values)])
    if len(known) == 0:
        return dict.fromkeys(("mean", "std", "min", "max", "worst10"), float("nan"))
    worst = known[: max(1, round(WORST_SHARE * len(known)))]
    with np.errstate(invalid="ignore"):  # an infinite loss has no spread
        std = float(known.std())
    return {
        "mean": float(known.mean()),
        "std": std,
        "min": float(known[0]),
        "max": float(known[-1]),
        "worst10": float(worst.mean()),
    }
