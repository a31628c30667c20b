"""Every sample of every client, before anything is dealt."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from torch import Tensor

from superfed.core.errors import UserError

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Owners:
    """Whose each sample is, where samples come from somebody: ``of[i]`` is the place of sample i's owner in ``names``."""

    names: Sequence[str]
    of: npt.NDArray[np.integer[Any]]

    def __post_init__(self) -> None:
        if len(self.of) and (int(self.of.min()) < 0 or int(self.of.max()) >= len(self.names)):
            raise UserError(f"owners: samples belong to owner {self.of.max()}, but there are {len(self.names)}")


class Packed(NamedTuple):
    """A pool as plain arrays and plain facts, to be kept in files."""

    arrays: dict[str, npt.NDArray[Any]]
    facts: dict[str, Any]


class Pool(ABC):
    """Samples with labels 0 to ``num_classes`` - 1, looked up by their rows."""

    name: str
    num_classes: int
    owners: Owners | None = None
    class_names: Sequence[str] | None = None
    """What the classes are called, where labels were not numbers to begin with."""
    parts: npt.NDArray[np.int8] | None = None
    """For each sample the part it was given for (see ``split.GIVEN``), where the data came with a split of its own."""
    overlap: int = 0
    """How many of an owner's next samples share something with a sample, as windows of one text do. Where it is not 0,
    rows are in the order of time and clients are split in that order."""

    @property
    @abstractmethod
    def labels(self) -> npt.NDArray[np.integer[Any]]: ...

    @property
    @abstractmethod
    def input_shape(self) -> tuple[int, ...]: ...

    @abstractmethod
    def inputs(self, rows: IntArray) -> Tensor:
        """The inputs of these rows as a network takes them: a fresh contiguous tensor."""

    @abstractmethod
    def digest(self) -> str:
        """Sha256 of the contents; the name is not part of it."""

    @abstractmethod
    def pack(self) -> Packed: ...

    @classmethod
    @abstractmethod
    def unpack(cls, packed: Packed, digest: str | None = None) -> "Pool":
        """The reverse of ``pack``, around the same arrays; ``digest`` spares reading them all to find it."""

    def __len__(self) -> int:
        return len(self.labels)
