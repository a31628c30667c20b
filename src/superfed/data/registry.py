"""The datasets by name."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from superfed.data.cifar10 import Cifar10
from superfed.data.digits import Digits
from superfed.data.mnist import Mnist
from superfed.data.pool import Pool
from superfed.data.synthetic import Synthetic


class DatasetSettings(Protocol):
    """A dataset yet to be read."""

    def load(self, root: Path | None) -> Pool | Synthetic:
        """A pooled dataset, for a partition to deal, or the synthetic task, which needs none."""
        ...


@dataclass(frozen=True)
class DatasetEntry:
    summary: str
    settings: type[DatasetSettings]


DATASETS: dict[str, DatasetEntry] = {
    "digits": DatasetEntry("1,797 handwritten digits, 8×8, from scikit-learn; nothing to download", Digits),
    "mnist": DatasetEntry("MNIST's 60,000 training digits, 28×28", Mnist),
    "cifar10": DatasetEntry("CIFAR-10's 50,000 training photographs in 10 classes, 32×32 in colour", Cifar10),
    "synthetic": DatasetEntry("Gaussian classes for any number of clients, generated as they are asked for", Synthetic),
}
