"""Networks that answer nothing: to every sample, that all classes are equally likely.

Where all units of a layer have died and there are no biases, that is what is left. Such a network has a calibration error
near zero, which is not to its credit, and an accuracy that looks like one.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
CLOSE = 1e-4


def silent(confidence: Floats, loss: Floats, top1: Floats) -> NDArray[np.bool_]:
    """Which clients have such a network, by the means over their samples.

    A sample's loss is -log of the probability of its own class, which is at most that of the class that is named. So
    exp(-loss) is at most the confidence, and they are equal only if every sample's own class is as likely as the one that
    is named, always equally likely: with a sample that is wrong, then, they tie.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        tied = np.abs(confidence * np.exp(loss) - 1) < CLOSE
    found: NDArray[np.bool_] = tied & (top1 < 1)
    return found
