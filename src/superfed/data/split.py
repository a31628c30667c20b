"""How one client's samples become training, validation and test samples."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from superfed.core.errors import require
from superfed.data.checks import finite

CUT, TRAIN, VALIDATION, TEST = range(4)
GIVEN = {"train": TRAIN, "validation": VALIDATION, "test": TEST}
"""How a pool says which part a sample was given for; ``CUT`` are those that are for us to split."""


class Sizes(NamedTuple):
    train: int
    validation: int
    test: int


class Rows(NamedTuple):
    """Which of a client's samples each part holds."""

    train: npt.NDArray[np.int64]
    validation: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """Test is ``test_fraction`` of all samples, validation is ``validation_fraction`` of what remains.

    Both are rounded to the nearest whole number, halves up. A tiny client fills its parts in the order training, test,
    validation: one sample trains, two train and test, and from three on each part has at least one (validation only if
    its fraction is above 0).
    """

    test_fraction: float = 0.2
    validation_fraction: float = 0.1
    mixed: bool = False
    """Whether samples that overlap are drawn at random like others, and not kept apart in time."""

    def __post_init__(self) -> None:
        test = finite("test_fraction", self.test_fraction)
        require(0 < test < 1, "test_fraction", f"must be above 0 and below 1, got {test}")
        validation = finite("validation_fraction", self.validation_fraction)
        require(0 <= validation < 1, "validation_fraction", f"must be at least 0 and below 1, got {validation}")

    def fits(self, name: str, overlap: int) -> None:
        """Whether the samples of this name, which share so many others' inputs, can be split so."""
        require(overlap > 0 or not self.mixed, "overlapping", f"is about samples that overlap; those of {name} do not")

    def sizes(self, num_samples: int, *, cut_test: bool = True, cut_validation: bool = True) -> Sizes:
        """Sizes of the parts. A client that brings its own test or validation samples has none cut."""
        cut_validation = cut_validation and self.validation_fraction > 0
        test = validation = 0
        if cut_test and num_samples >= 2:
            most = num_samples - 1 - (cut_validation and num_samples >= 3)
            test = min(max(_part_of(num_samples, self.test_fraction), 1), most)
        remaining = num_samples - test
        if cut_validation and remaining >= 2:
            validation = min(max(_part_of(remaining, self.validation_fraction), 1), remaining - 1)
        return Sizes(remaining - validation, validation, test)

    def rows(
        self, num_samples: int, rng: np.random.Generator, *, cut_test: bool = True, cut_validation: bool = True
    ) -> Rows:
        """Shuffle and cut. The test rows come first, so they do not depend on the validation fraction."""
        _, validation, test = self.sizes(num_samples, cut_test=cut_test, cut_validation=cut_validation)
        order = rng.permutation(num_samples)
        return Rows(order[test + validation :], order[test : test + validation], order[:test])

    def sizes_in_time(self, num_samples: int, gap: int) -> Sizes:
        """Sizes of the parts when the earliest samples train and the latest test.

        Neighbouring samples overlap, so ``gap`` of them are left out between the parts: the first of what would be test
        samples (as LEAF does it), and the last of what would be training samples before those for validation. Who has too
        few samples for a gap and a part goes without that part, and without validation if less than half of what comes
        before the test samples would be left to train on; everybody trains on at least one sample.
        """
        late = min(_part_of(num_samples, self.test_fraction), num_samples - 1)
        early = num_samples - late
        validation = _part_of(early, self.validation_fraction)
        if 2 * (early - validation - gap) < early:
            validation = 0
        train = early - validation - (gap if validation else 0)
        return Sizes(train, validation, max(late - gap, 0))

    def rows_in_time(self, num_samples: int, gap: int) -> Rows:
        train, validation, test = self.sizes_in_time(num_samples, gap)
        start = train + gap
        every = np.arange(num_samples)
        return Rows(every[:train], every[start : start + validation], every[num_samples - test :])

    def rows_given(self, parts: npt.NDArray[np.int8], rng: np.random.Generator) -> Rows:
        """What was given for a part stays there; the rest is cut into those parts for which nothing was given."""
        own = {part: np.flatnonzero(parts == code) for part, code in GIVEN.items()}
        rest = np.flatnonzero(parts == CUT)
        cut_test, cut_validation = not len(own["test"]), not len(own["validation"])
        cut = self.rows(len(rest), rng, cut_test=cut_test, cut_validation=cut_validation) if len(rest) else None
        if cut is None:  # all of it came with a part
            return Rows(own["train"], own["validation"], own["test"])
        return Rows(*(np.concatenate([own[part], rest[rows]]) for part, rows in zip(GIVEN, cut, strict=True)))


def _part_of(num_samples: int, fraction: float) -> int:
    numerator, denominator = _as_written(float(fraction))
    return (2 * num_samples * numerator + denominator) // (2 * denominator)


@lru_cache(maxsize=64)
def _as_written(fraction: float) -> tuple[int, int]:
    """The decimal that was written, exactly: in binary, .29 of 50 falls below the half that it is."""
    return Fraction(str(fraction)).as_integer_ratio()
