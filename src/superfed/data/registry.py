"""The datasets by name."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from superfed.data.cifar10 import Cifar10
from superfed.data.cifar100 import Cifar100
from superfed.data.digits import Digits
from superfed.data.fashion_mnist import FashionMnist
from superfed.data.femnist import Femnist
from superfed.data.mnist import Mnist
from superfed.data.mnist_writers import MnistWriters
from superfed.data.own_folder import ClientFolder
from superfed.data.own_table import ClientTable
from superfed.data.pool import Pool
from superfed.data.shakespeare import Shakespeare
from superfed.data.stand_in import StandIn
from superfed.data.synthetic import Synthetic
from superfed.data.tiny_imagenet import TinyImageNet


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
    "mnist_writers": DatasetEntry("MNIST's training digits, the 539 people who wrote them as clients", MnistWriters),
    "fashion_mnist": DatasetEntry("Fashion-MNIST's 60,000 training pictures of clothes, 28×28", FashionMnist),
    "cifar10": DatasetEntry("CIFAR-10's 50,000 training photographs in 10 classes, 32×32 in colour", Cifar10),
    "cifar100": DatasetEntry("CIFAR-100's 50,000 training photographs in 100 or 20 classes, 32×32", Cifar100),
    "tiny_imagenet": DatasetEntry("Tiny-ImageNet's training photographs in 200 classes, 64×64 in colour", TinyImageNet),
    "femnist": DatasetEntry("FEMNIST's handwritten characters in 62 classes, 28×28, by their writers", Femnist),
    "shakespeare": DatasetEntry("the next character in Shakespeare's plays, by role, after 80 characters", Shakespeare),
    "stand_in": DatasetEntry(
        "small made-up data in the shape of another dataset, to try things without a file", StandIn
    ),
    "synthetic": DatasetEntry("Gaussian classes for any number of clients, generated as they are asked for", Synthetic),
    "folder": DatasetEntry("your own data: a folder with an .npz or .parquet file for each client", ClientFolder),
    "table": DatasetEntry("your own data: a Parquet or CSV table with a column that says whose a row is", ClientTable),
}
