"""Wrong labels, put in on purpose."""

from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from superfed.core.errors import UserError, require
from superfed.data.checks import finite, one_of

NoiseKind = Literal["pair", "symmetric"]
Label = TypeVar("Label", bound=np.integer[Any])


@dataclass(frozen=True)
class LabelNoise:
    """With probability ``rate`` a label becomes the next class (pair) or any other class alike (symmetric)."""

    kind: NoiseKind
    """The next class, or any other class alike."""
    rate: float
    """The probability that a label is made wrong."""

    def __post_init__(self) -> None:
        one_of("kind", self.kind, get_args(NoiseKind))
        rate = finite("rate", self.rate)
        require(0 <= rate <= 1, "rate", f"must be from 0 to 1, got {rate}")

    def apply(self, labels: npt.NDArray[Label], num_classes: int, rng: np.random.Generator) -> npt.NDArray[Label]:
        """A noisy copy of ``labels``."""
        enough_classes(num_classes)
        # A narrow label type such as uint8 could overflow in the addition.
        wide = labels.astype(np.int64)
        wrong = rng.random(len(wide)) < self.rate
        shift = 1 if self.kind == "pair" else rng.integers(1, num_classes, size=len(wide))
        return np.where(wrong, (wide + shift) % num_classes, wide).astype(labels.dtype)


def enough_classes(num_classes: int) -> None:
    if num_classes < 2:
        raise UserError(f"label noise needs at least two classes to confuse, got {num_classes}")
