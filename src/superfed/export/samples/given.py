"""Samples as a file holds them, before anything is done to them."""

from collections.abc import Sequence
from dataclasses import dataclass

from superfed.data.arrays import Array
from superfed.data.labels import Labels


@dataclass(frozen=True, eq=False)
class Given:
    """``where`` is how a sentence calls them, and ``names`` is how each sample is called."""

    where: str
    x: Array
    names: Sequence[str]
    labels: Labels | None = None


@dataclass(frozen=True)
class Wanted:
    """What the user said of the file: the names of its columns or arrays."""

    label: str | None = None
    inputs: str | None = None


def numbered(count: int) -> list[str]:
    """What samples without names are called."""
    return [str(place) for place in range(count)]
