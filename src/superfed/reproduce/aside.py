"""A small table below the comparison: what its columns say together."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Aside:
    title: str
    headings: tuple[str, ...]
    """Of the columns; the first two, where a row belongs and how much of it was run, are short."""
    rows: Sequence[tuple[str, ...]]
    sentence: str
    """What its numbers are."""
