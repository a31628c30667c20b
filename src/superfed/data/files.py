"""Datasets that lie on disk: found first, then read."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from superfed.data.pool import Pool

P = TypeVar("P", bound=Pool, covariant=True)
Tick = Callable[[int, int], None]
"""Told while something long goes on: how much is done, of how much."""


def silent(done: int, total: int) -> None:
    """For who does not care to know."""


@dataclass(frozen=True)
class Found:
    """The files that a dataset will be read from, and in which of its layouts they lie."""

    layout: str
    files: tuple[Path, ...]


class FileDataset(ABC, Generic[P]):
    """A dataset on disk. Subclasses are frozen dataclasses whose fields are its settings."""

    key: ClassVar[str]
    """Its name in the registry."""
    reader: ClassVar[int] = 1
    """Counts up when the same files come to be read as something else, so that no old cache is used."""
    hub: ClassVar[str | None] = None
    """The repository of the Hugging Face hub ("owner/name") that keeps it too."""
    checksums: ClassVar[Mapping[str, str]] = {}
    """The md5 of each published file, by its name; by the unpacked file's name, that of what a gzip file holds."""

    @abstractmethod
    def find(self, root: Path | None) -> Found:
        """The files, or a ``UserError`` that says where they were looked for and how to get them."""

    @abstractmethod
    def read(self, found: Found, tick: Tick = silent) -> P:
        """What the files hold, or a ``UserError`` that names the one that is broken."""

    def load(self, root: Path | None) -> P:
        return self.read(self.find(root))
