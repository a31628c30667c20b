"""The paper's datasets as far as they are known without a file: how many samples of which class, or whose."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from superfed.core.errors import UserError
from superfed.core.samples import FederatedData
from superfed.data.dealt import deal
from superfed.data.files import FileDataset
from superfed.data.pool import IntArray, Owners, Packed, Pool
from superfed.data.registry import DatasetSettings
from superfed.data.synthetic import Synthetic
from superfed.data.tiny_imagenet import TinyImageNet
from superfed.experiments.schema import DataConfig
from superfed.reproduce.parts import FEW_WRITERS, MNIST_WRITERS

MNIST_CLASSES = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)
FEMNIST_WRITERS = (11, 437)
"""The fewest and the most images of 730 writers, as if spread evenly: in all about the 163,541 that there were."""
FEW_IMAGES = 500
"""Of each of a few writers, where no more are wanted than a part of FEMNIST has."""
MNIST_SIZES = (19, 91, 100, 106, 111, 116, 118, 122, 124, 127, 131)
"""The fewest digits of MNIST's 539 writers, each tenth part of them, and the most; 60,000 in all."""
SHAKESPEARE_ROLES = (802, 1049, 1316, 1784, 2369, 3400, 5010, 6867, 10042, 14202, 66903)
"""The fewest samples of the 660 roles with 800 or more, each tenth part of them, and the most; 4,087,514 in all."""
SHAKESPEARE_SAMPLES = 4_087_514


class KnownPool(Pool):
    """A pool that can be dealt, but holds no inputs."""

    def __init__(
        self,
        name: str,
        input_shape: tuple[int, ...],
        classes: npt.ArrayLike,
        people: npt.ArrayLike = (),
        overlap: int = 0,
    ) -> None:
        sizes = np.asarray(people, dtype=np.int64)
        counts = np.asarray(classes, dtype=np.int64)
        self.name, self.num_classes, self.overlap, self._shape = name, len(counts), overlap, input_shape
        of = np.repeat(np.arange(len(sizes)), sizes)
        self.owners = Owners([str(i) for i in range(len(sizes))], of) if len(sizes) else None
        # Labels do not matter to who keeps what is theirs.
        self._labels = np.zeros(len(of), dtype=np.int64) if len(of) else np.repeat(np.arange(len(counts)), counts)

    @property
    def labels(self) -> npt.NDArray[np.integer[Any]]:
        return self._labels

    @property
    def input_shape(self) -> tuple[int, ...]:
        return self._shape

    def inputs(self, rows: IntArray) -> Tensor:
        raise UserError(f"{self.name}: only the numbers of its samples are known here")

    def digest(self) -> str:
        return self.name

    def pack(self) -> Packed:
        raise UserError(f"{self.name}: only the numbers of its samples are known here")

    @classmethod
    def unpack(cls, packed: Packed, digest: str | None = None) -> "KnownPool":
        raise UserError("only the numbers of samples are known here")


def dealt(config: DataConfig, seed: int) -> FederatedData:
    """The clients as they will be, but for their samples; natural ones are only about as large."""
    pool = _pool(config.dataset, config.num_clients)
    return deal(pool, config.partition, config.num_clients, split=config.split, noise=config.label_noise, seed=seed)


def _pool(settings: DatasetSettings, num_clients: int | None) -> Pool | Synthetic:
    if not isinstance(settings, FileDataset):
        return settings.load(None)
    shape, classes = SHAPES[settings.key]
    if settings.key == "femnist" and num_clients == FEW_WRITERS:
        return KnownPool("femnist", shape, classes, np.full(FEW_WRITERS, FEW_IMAGES))
    if settings.key == "femnist":
        return KnownPool("femnist", shape, classes, np.linspace(*FEMNIST_WRITERS, 730).round())
    if settings.key == "mnist_writers":
        return KnownPool("mnist_writers", shape, classes, _between(MNIST_SIZES, MNIST_WRITERS).round())
    if isinstance(settings, TinyImageNet) and settings.per_class is not None:
        return KnownPool(settings.key, shape, np.full(len(classes), settings.per_class))
    if settings.key == "shakespeare":
        return KnownPool("shakespeare", shape, classes, _roles(), overlap=shape[0] - 1)
    return KnownPool(settings.key, shape, classes)


def _roles() -> npt.NDArray[np.int64]:
    """660 sizes between those that are known, the larger ones scaled so that they sum up."""
    sizes = np.exp(_between(np.log(SHAKESPEARE_ROLES).tolist(), 660))
    last = sizes > SHAKESPEARE_ROLES[-2]
    missing = SHAKESPEARE_SAMPLES - sizes[~last].sum()
    sizes[last] *= missing / sizes[last].sum()
    return sizes.round().astype(np.int64)


def _between(known: Sequence[float], count: int) -> npt.NDArray[np.float64]:
    """So many sizes, ascending, of which each tenth part is known."""
    found: npt.NDArray[np.float64] = np.interp(np.linspace(0, 1, count), np.linspace(0, 1, len(known)), known)
    return found


SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "mnist": ((1, 28, 28), MNIST_CLASSES),
    "cifar10": ((3, 32, 32), (5000,) * 10),
    "cifar100": ((3, 32, 32), (500,) * 100),
    "tiny_imagenet": ((3, 64, 64), (500,) * 200),
    "femnist": ((1, 28, 28), (0,) * 62),
    "mnist_writers": ((1, 28, 28), (0,) * 10),
    "shakespeare": ((80,), (0,) * 100),
}
"""An input's shape and the samples of each class; of natural clients only the number of classes counts."""
