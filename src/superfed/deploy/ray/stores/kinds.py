"""What a store is asked for, by tasks and by the program that gave them out."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from superfed.store.files import sha256_of

MARK = "experiment.json"
Save = Callable[[], None]


class Store(Protocol):
    """It travels with the parcels, so it is plain."""

    @property
    def in_place(self) -> bool:
        """Whether machines compute in the very folders where runs belong, and copy nothing."""
        ...

    @property
    def option(self) -> str:
        """How it is named on a command line."""
        ...

    def check(self) -> None:
        """Refuse, before anything is begun, a store that cannot be used."""
        ...

    def mark(self, folder: Path) -> None:
        """On the machine that gives runs out: this run, in this experiment's folder, is one of them."""
        ...

    def taken(self, folder: Path) -> AbstractContextManager[tuple[Path, Save]]:
        """On a machine that computes: the run that belongs in ``folder``, at the path that it is computed in while the block
        lasts; and what is called to have it stored as it is."""
        ...

    def fetch(self, folder: Path) -> None:
        """On the machine that gave it out: have the run in ``folder`` as it is stored."""
        ...


@dataclass
class Marked:
    """Knows experiments by what their first file holds: two of one name are not taken for each other."""

    marks: dict[Path, str] = field(default_factory=dict, kw_only=True)

    def mark(self, folder: Path) -> None:
        experiment = folder.absolute().parent
        if experiment not in self.marks:
            self.marks[experiment] = sha256_of(experiment / MARK)
