"""Datasets dealt to clients: a pooled one by a partition, the synthetic one by construction."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from superfed.core.errors import SettingError, UserError
from superfed.core.random import stream
from superfed.data.checks import seed_in_range
from superfed.data.federation import Federation
from superfed.data.fingerprint import fingerprint
from superfed.data.noise import LabelNoise
from superfed.data.partitions import Natural, Partition, PartitionKind
from superfed.data.pool import Pool
from superfed.data.split import Rows, Sizes, Split
from superfed.data.synthetic import Synthetic

IntArray = npt.NDArray[np.int64]


class DealtDataset(Federation):
    """A pool in which each client holds what the partition gives it."""

    def __init__(
        self,
        pool: Pool,
        partition: Partition,
        *,
        split: Split | None = None,
        noise: LabelNoise | None = None,
        seed: int = 0,
        client_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(partition.num_clients, pool.num_classes, split or Split(), noise, seed)
        if int(partition.indices.max()) >= len(pool):
            raise UserError(
                f"the partition deals sample {partition.indices.max()}, but {pool.name} has {len(pool)} samples"
            )
        self.split.fits(pool.name, pool.overlap)
        self.pool = pool
        self.partition = partition
        self.client_names = client_names
        self.class_names = pool.class_names

    @classmethod
    def deal(
        cls,
        pool: Pool,
        kind: PartitionKind | Natural | None = None,
        num_clients: int | None = None,
        *,
        split: Split | None = None,
        noise: LabelNoise | None = None,
        seed: int = 0,
    ) -> "DealtDataset":
        """Deal ``pool`` by ``kind``; the one seed decides who holds what, the split and the noise.

        Without ``kind``, samples that have owners stay with them.
        """
        seed_in_range(seed)
        rng = stream(seed, "partition")
        if kind is None and pool.owners is not None:
            kind = Natural()
        if kind is None:
            raise SettingError("partition", "is needed and not given")
        if isinstance(kind, Natural):
            if pool.owners is None:
                raise SettingError("partition", f"{pool.name} does not say whose its samples are; choose another one")
            chosen = kind.choose(pool.owners, num_clients, rng)
            names = [pool.owners.names[place] for place in chosen.tolist()]
            partition = kind.deal(pool.owners, chosen)
            return cls(pool, partition, split=split, noise=noise, seed=seed, client_names=names)
        if pool.overlap:
            raise SettingError(
                "partition", f"the samples of {pool.name} overlap, so only natural clients can hold them"
            )
        if num_clients is None:
            raise SettingError("num_clients", "is needed and not given")
        partition = kind.deal(pool.labels, num_clients, rng)
        return cls(pool, partition, split=split, noise=noise, seed=seed)

    @property
    def input_shape(self) -> tuple[int, ...]:
        return self.pool.input_shape

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.pool.digest(), self.partition.fingerprint(), *self._settings())

    def _size(self, client: int) -> int:
        return self.partition.size(client)

    @property
    def _in_time(self) -> bool:
        return self.pool.overlap > 0 and not self.split.mixed

    def _sizes(self, client: int) -> Sizes:
        if self._in_time:
            return self.split.sizes_in_time(self._size(client), self.pool.overlap)
        if self.pool.parts is not None:
            return Sizes(*map(len, self._rows(client)))
        return super()._sizes(client)

    def _rows(self, client: int) -> Rows:
        if self._in_time:
            return self.split.rows_in_time(self._size(client), self.pool.overlap)
        if self.pool.parts is not None:
            held = self.partition.client(client)
            return self.split.rows_given(self.pool.parts[held], stream(self.seed, "split", client=client))
        return super()._rows(client)

    def _holdings(self, client: int) -> tuple[IntArray, Callable[[IntArray], Tensor]]:
        held = self.partition.client(client)
        return self.pool.labels[held].astype(np.int64, copy=False), lambda rows: self.pool.inputs(held[rows])


class SyntheticFederation(Federation):
    """The synthetic task; a client's samples are made when asked for, so a million clients cost what one does."""

    def __init__(
        self,
        task: Synthetic,
        num_clients: int,
        *,
        split: Split | None = None,
        noise: LabelNoise | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(num_clients, task.num_classes, split or Split(), noise, seed)
        self.split.fits("the synthetic dataset", 0)
        self.task = task
        self._class_means = task.class_means(seed)

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.task.dim,)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint("synthetic", asdict(self.task), self.num_clients, *self._settings())

    def _size(self, client: int) -> int:
        return self.task.size(self.seed, client)

    def _labels(self, client: int) -> IntArray:
        return self.task.labels(self.seed, client)

    def _holdings(self, client: int) -> tuple[IntArray, Callable[[IntArray], Tensor]]:
        x, y = self.task.generate(self.seed, client, self._class_means)
        return y, lambda rows: torch.from_numpy(x[rows])


def deal(
    source: Pool | Synthetic,
    kind: PartitionKind | Natural | None,
    num_clients: int | None,
    *,
    split: Split,
    noise: LabelNoise | None,
    seed: int,
) -> Federation:
    """Whatever a dataset's settings load, dealt to clients."""
    if not isinstance(source, Synthetic):
        return DealtDataset.deal(source, kind, num_clients, split=split, noise=noise, seed=seed)
    if kind is not None:
        raise SettingError("partition", "the synthetic dataset has clients of its own and takes no partition")
    if num_clients is None:
        raise SettingError("num_clients", "is needed and not given")
    return SyntheticFederation(source, num_clients, split=split, noise=noise, seed=seed)
