"""CIFAR-100 from its own file, or from the hub's."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from superfed.data.checks import one_of
from superfed.data.cifar import SHAPE, read_batches
from superfed.data.dataset import Dataset
from superfed.data.files import FileDataset, Found, Tick, silent
from superfed.data.hub_images import read_hub_images
from superfed.data.missing import root_or_error
from superfed.data.places import look_for

FOLDER = "cifar-100-python"
CLASSES = {"fine": 100, "coarse": 20}
SOURCE = (
    "the CIFAR-100 python version of Krizhevsky at the University of Toronto (cifar-100-python.tar.gz, "
    "which torchvision's CIFAR100 class also downloads)"
)


@dataclass(frozen=True)
class Cifar100(FileDataset[Dataset]):
    """The 50,000 training images, the pool that clients are dealt from; CIFAR-100's own test file is not used.

    Each has a fine label, one of 100, and a coarse one, one of 20.
    """

    labels: Literal["fine", "coarse"] = "fine"
    """100 classes, or 20 that hold five of them each."""

    key: ClassVar[str] = "cifar100"
    hub: ClassVar[str | None] = "uoft-cs/cifar100"
    checksums: ClassVar[Mapping[str, str]] = {"train": "16019d7e3df5f24257cddd939b257f8d"}

    def __post_init__(self) -> None:
        one_of("labels", self.labels, tuple(CLASSES))

    def find(self, root: Path | None) -> Found:
        root = root_or_error(self.key, root, FOLDER, SOURCE)
        folder = root / FOLDER
        return look_for(self, root, [[folder / "train"]], folder, SOURCE)

    def read(self, found: Found, tick: Tick = silent) -> Dataset:
        num_classes = CLASSES[self.labels]
        if found.layout == "hub":
            x, y = read_hub_images(found.files, "img", f"{self.labels}_label", SHAPE, num_classes, tick)
        else:
            x, y = read_batches(found.files, "CIFAR-100", f"{self.labels}_labels", num_classes)
        return Dataset(self.key, x, y, num_classes, scale=1 / 255)
