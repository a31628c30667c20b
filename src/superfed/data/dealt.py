"""Datasets dealt to clients: a pooled one by a partition, the synthetic one by construction."""

from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from superfed.core.errors import UserError
from superfed.core.random import stream
from superfed.data.checks import seed_in_range
from superfed.data.dataset import Dataset
from superfed.data.federation import Federation
from superfed.data.fingerprint import fingerprint
from superfed.data.noise import LabelNoise
from superfed.data.partitions import Partition, PartitionKind
from superfed.data.split import Split
from superfed.data.synthetic import Synthetic

IntArray = npt.NDArray[np.int64]


class DealtDataset(Federation):
    """A pooled dataset in which each client holds what the partition gives it."""

    def __init__(
        self,
        dataset: Dataset,
        partition: Partition,
        *,
        split: Split | None = None,
        noise: LabelNoise | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(partition.num_clients, dataset.num_classes, split or Split(), noise, seed)
        if int(partition.indices.max()) >= len(dataset):
            raise UserError(
                f"the partition deals sample {partition.indices.max()}, but {dataset.name} has {len(dataset)} samples"
            )
        self.dataset = dataset
        self.partition = partition

    @classmethod
    def deal(
        cls,
        dataset: Dataset,
        kind: PartitionKind,
        num_clients: int,
        *,
        split: Split | None = None,
        noise: LabelNoise | None = None,
        seed: int = 0,
    ) -> "DealtDataset":
        """Deal ``dataset`` by ``kind``; the one seed decides who holds what, the split and the noise."""
        seed_in_range(seed)
        partition = kind.deal(dataset.y.numpy(), num_clients, stream(seed, "partition"))
        return cls(dataset, partition, split=split, noise=noise, seed=seed)

    @property
    def input_shape(self) -> tuple[int, ...]:
        return self.dataset.input_shape

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.dataset.digest(), self.partition.fingerprint(), *self._settings())

    def _size(self, client: int) -> int:
        return self.partition.size(client)

    def _holdings(self, client: int) -> tuple[IntArray, Callable[[IntArray], Tensor]]:
        held = self.partition.client(client)
        return self.dataset.y.numpy()[held], lambda rows: self.dataset.inputs(held[rows])


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

    def _holdings(self, client: int) -> tuple[IntArray, Callable[[IntArray], Tensor]]:
        x, y = self.task.generate(self.seed, client, self._class_means)
        return y, lambda rows: torch.from_numpy(x[rows])
