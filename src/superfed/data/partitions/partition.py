"""The result of dealing: which samples each client holds."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from superfed.core.errors import UserError, require
from superfed.data.checks import client_in_range, whole
from superfed.data.fingerprint import fingerprint

IntArray = npt.NDArray[np.int64]
Labels = npt.NDArray[np.integer[Any]]


class PartitionKind(Protocol):
    """A way to deal samples to clients."""

    def deal(self, labels: Labels, num_clients: int, rng: np.random.Generator) -> "Partition": ...


@dataclass(frozen=True, eq=False)
class Partition:
    """Client i holds the samples ``indices[offsets[i]:offsets[i + 1]]``; two flat arrays serve a million clients."""

    offsets: IntArray
    indices: IntArray

    def __post_init__(self) -> None:
        for name, array in (("offsets", self.offsets), ("indices", self.indices)):
            if array.dtype != np.int64 or array.ndim != 1:
                raise UserError(f"a partition's {name} must be a flat int64 array")
        if len(self.offsets) < 2 or self.offsets[0] != 0 or self.offsets[-1] != len(self.indices):
            raise UserError("a partition's offsets must begin at 0 and end at the number of indices")
        if (np.diff(self.offsets) < 1).any():
            raise UserError("a partition must give every client at least one sample")
        if self.indices.min() < 0:
            raise UserError("a partition's indices must not be negative")

    @property
    def num_clients(self) -> int:
        return len(self.offsets) - 1

    def size(self, client: int) -> int:
        client_in_range(client, self.num_clients)
        return int(self.offsets[client + 1] - self.offsets[client])

    def client(self, client: int) -> IntArray:
        """The samples of one client, as a view."""
        client_in_range(client, self.num_clients)
        return self.indices[self.offsets[client] : self.offsets[client + 1]]

    def fingerprint(self) -> str:
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        return fingerprint(self.offsets, self.indices)


def by_owner(samples: IntArray, owners: IntArray, num_clients: int) -> Partition:
    """The partition in which ``owners[j]`` holds ``samples[j]``; each client's samples keep their order."""
    sizes = np.bincount(owners, minlength=num_clients)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Partition(offsets, samples[np.argsort(owners, kind="stable")])


def even_sizes(total: int, parts: int) -> IntArray:
    """``total`` cut into ``parts`` whole numbers that differ by at most one."""
    sizes = np.full(parts, total // parts, dtype=np.int64)
    sizes[: total % parts] += 1
    return sizes


def enough_for_everyone(num_samples: int, num_clients: int) -> None:
    whole("num_clients", num_clients, least=1)
    require(
        num_clients <= num_samples,
        "num_clients",
        f"{num_clients} clients cannot each hold one of {num_samples} samples; use at most {num_samples}",
    )
