"""Datasets on their way to other machines: into Ray's store once, and from there to each machine once.

A worker that opens one gets arrays that lie in its machine's shared memory: however many workers a machine has, the data
are there once.
"""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from superfed.data.dealt import DealtDataset
from superfed.data.pool import Packed, Pool
from superfed.data.registry import DatasetSettings
from superfed.experiments.orders import Order


@dataclass(frozen=True)
class Shipped:
    """A dataset as plain arrays, which Ray does not copy when they are opened."""

    settings: DatasetSettings
    kind: type[Pool]
    packed: Packed
    digest: str

    @classmethod
    def of(cls, settings: DatasetSettings, pool: Pool) -> "Shipped":
        return cls(settings, type(pool), pool.pack(), pool.digest())

    def opened(self) -> Pool:
        with warnings.catch_warnings():  # torch's, that nobody may write to these arrays; nobody does
            warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
            return self.kind.unpack(self.packed, self.digest)


def datasets_of(orders: Iterable[Order]) -> dict[DatasetSettings, Pool]:
    """Those that have to travel; synthetic samples are made where they are needed."""
    return {
        order.config.data.dataset: order.task.data.pool for order in orders if isinstance(order.task.data, DealtDataset)
    }


def ship(orders: Iterable[Order]) -> dict[DatasetSettings, Any]:
    """A reference to each dataset in Ray's store."""
    import ray

    return {settings: ray.put(Shipped.of(settings, pool)) for settings, pool in datasets_of(orders).items()}


def arrived(shipped: Iterable[Shipped]) -> Mapping[DatasetSettings, Pool]:
    return {one.settings: one.opened() for one in shipped}
