"""What every dealt dataset shares: the split of each client's samples and the noise on its labels."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from superfed.core.random import stream
from superfed.core.samples import Samples
from superfed.data.checks import client_in_range, seed_in_range, whole
from superfed.data.noise import LabelNoise, enough_classes
from superfed.data.split import Rows, Sizes, Split

IntArray = npt.NDArray[np.int64]


class Federation(ABC):
    """Clients whose samples are split, and whose labels are noised, when they are asked for.

    Noise falls on training and validation labels, both parts of what the client trains with; test labels stay clean.
    Every draw is keyed by the client, so no client's samples depend on who was asked before.
    """

    def __init__(self, num_clients: int, num_classes: int, split: Split, noise: LabelNoise | None, seed: int) -> None:
        whole("num_clients", num_clients, least=1)
        seed_in_range(seed)
        if noise is not None:
            enough_classes(num_classes)
        self.num_clients = num_clients
        self.num_classes = num_classes
        self.split = split
        self.noise = noise
        self.seed = seed

    @property
    @abstractmethod
    def input_shape(self) -> tuple[int, ...]: ...

    @property
    @abstractmethod
    def fingerprint(self) -> str: ...

    @abstractmethod
    def _size(self, client: int) -> int:
        """How many samples the client holds."""

    @abstractmethod
    def _holdings(self, client: int) -> tuple[IntArray, Callable[[IntArray], Tensor]]:
        """The client's clean labels, and a function that gives the inputs of some of its rows."""

    def _sizes(self, client: int) -> Sizes:
        return self.split.sizes(self._size(client))

    def _rows(self, client: int) -> Rows:
        """Which of the client's samples train, validate and test."""
        return self.split.rows(self._size(client), stream(self.seed, "split", client=client))

    def _labels(self, client: int) -> IntArray:
        return self._holdings(client)[0]

    def labels(self, client: int) -> IntArray:
        """The labels of everything the client holds, before any noise; no inputs are made for it."""
        client_in_range(client, self.num_clients)
        return self._labels(client)

    def sizes(self, client: int) -> Sizes:
        """How many samples train, validate and test."""
        client_in_range(client, self.num_clients)
        return self._sizes(client)

    def train_size(self, client: int) -> int:
        return self.sizes(client).train

    def train(self, client: int) -> Samples:
        return self._samples(client, "train")

    def validation(self, client: int) -> Samples:
        return self._samples(client, "validation")

    def test(self, client: int) -> Samples:
        return self._samples(client, "test")

    def _samples(self, client: int, part: Literal["train", "validation", "test"]) -> Samples:
        client_in_range(client, self.num_clients)
        labels, inputs = self._holdings(client)
        parts = self._rows(client)
        if self.noise is not None and part != "test":
            labels = self.noise.apply(labels, self.num_classes, stream(self.seed, "noise", client=client))
        rows: IntArray = getattr(parts, part)
        return Samples(inputs(rows), torch.from_numpy(labels[rows]))

    def _settings(self) -> list[object]:
        """What decides the split and the noise, for the fingerprint."""
        noise = None if self.noise is None else [self.noise.kind, self.noise.rate]
        mixed = ["mixed"] if self.split.mixed else []
        return [self.split.test_fraction, self.split.validation_fraction, noise, self.seed, *mixed]
