"""One number per client, told in a few: mean, spread, and how the worst-off fare."""

import numpy as np
from numpy.typing import NDArray

WORST_SHARE = 0.1


def summarise(values: NDArray[np.float64], *, higher_is_better: bool = True) -> dict[str, float]:
    """Mean, population standard deviation, extremes and the mean of the worst-off tenth, over clients that have a value."""
    known = np.sort(values[~np.isnan(values)])
    if len(known) == 0:
        return dict.fromkeys(("mean", "std", "min", "max", "worst10"), float("nan"))
    count = max(1, round(WORST_SHARE * len(known)))
    worst = known[:count] if higher_is_better else known[-count:]
    finite = bool(np.isfinite(known).all())
    return {
        "mean": float(known.mean()),
        "std": float(known.std()) if finite else float("nan"),
        "min": float(known[0]),
        "max": float(known[-1]),
        "worst10": float(worst.mean()),
    }
