"""What a task is given: some runs, where they lie, and which attempt it is."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from superfed.experiments.assemble import Assembler
from superfed.experiments.orders import Order
from superfed.experiments.schema import RunConfig
from superfed.store.layout import RunFolder


@dataclass(frozen=True, eq=False)
class Item:
    """One run, as it travels: ``place`` is its place among all runs of the job."""

    place: int
    title: str
    folder: Path
    settings: dict[str, Any]

    @classmethod
    def of(cls, place: int, order: Order) -> "Item":
        return cls(place, order.title, order.folder.path.absolute(), order.config.as_plain())

    def order(self, folder: Path, assembler: Assembler) -> Order:
        """The run again, with what belongs to it in ``folder``."""
        config = RunConfig.from_plain(self.settings)
        return Order(RunFolder(folder), config, assembler.task(config), self.title)


@dataclass(frozen=True)
class Parcel:
    """Runs that are computed together by one task. A parcel that was lost is sent again, as its next attempt."""

    number: int
    items: tuple[Item, ...]
    attempt: int = 0
    crashes: int = 0
    """How often its process died since anything of it was last saved."""

    def without(self, places: set[int]) -> "Parcel":
        return replace(self, items=tuple(item for item in self.items if item.place not in places))


def sent_again(parcel: Parcel, numbers: Iterator[int], *, blameless: bool) -> list[Parcel]:
    """What is tried after a parcel was lost; nothing, if its one run must be what kills the process.

    ``blameless`` is a parcel whose machine is gone, or that had come further. Any other is tried once more as it is, and then
    in halves: so the run that kills its process is soon by itself, and the others are rid of it.
    """
    if blameless or parcel.crashes == 0:
        return [replace(parcel, attempt=parcel.attempt + 1, crashes=0 if blameless else 1)]
    half = len(parcel.items) // 2
    parts = [part for part in (parcel.items[:half], parcel.items[half:]) if part]
    if len(parts) == 1:
        return []
    return [Parcel(next(numbers), part, crashes=1) for part in parts]
