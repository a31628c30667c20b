"""CIFAR-10 from its own files, or from the hub's."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from superfed.data.cifar import SHAPE, read_batches
from superfed.data.dataset import Dataset
from superfed.data.files import FileDataset, Found, Tick, silent
from superfed.data.hub_images import read_hub_images
from superfed.data.missing import root_or_error
from superfed.data.places import look_for

FOLDER = "cifar-10-batches-py"
BATCHES = tuple(f"data_batch_{i}" for i in range(1, 6))
SOURCE = (
    "the CIFAR-10 python version of Krizhevsky at the University of Toronto (cifar-10-python.tar.gz, "
    "which torchvision's CIFAR10 class also downloads)"
)


@dataclass(frozen=True)
class Cifar10(FileDataset[Dataset]):
    """The 50,000 training images, the pool that clients are dealt from; CIFAR-10's own test batch is not used."""

    key: ClassVar[str] = "cifar10"
    hub: ClassVar[str | None] = "uoft-cs/cifar10"
    checksums: ClassVar[Mapping[str, str]] = {
        "data_batch_1": "c99cafc152244af753f735de768cd75f",
        "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
        "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
        "data_batch_4": "634d18415352ddfa80567beed471001a",
        "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    }

    def find(self, root: Path | None) -> Found:
        root = root_or_error(self.key, root, FOLDER, SOURCE)
        folder = root / FOLDER
        return look_for(self, root, [[folder / batch] for batch in BATCHES], folder, SOURCE)

    def read(self, found: Found, tick: Tick = silent) -> Dataset:
        if found.layout == "hub":
            x, y = read_hub_images(found.files, "img", "label", SHAPE, 10, tick)
        else:
            x, y = read_batches(found.files, "CIFAR-10", "labels", 10)
        return Dataset(self.key, x, y, num_classes=10, scale=1 / 255)
