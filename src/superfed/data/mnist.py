"""MNIST from its own files, or from the hub's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from superfed.data.idx_images import IMAGES, LABELS, IdxImages


@dataclass(frozen=True)
class Mnist(IdxImages):
    """The 60,000 training images, the pool that clients are dealt from; MNIST's own test files are not used."""

    key: ClassVar[str] = "mnist"
    title: ClassVar[str] = "MNIST"
    folders: ClassVar[tuple[str, ...]] = ("MNIST/raw", "MNIST", ".")
    source: ClassVar[str] = (
        f"the MNIST database of LeCun, Cortes and Burges ({IMAGES}.gz and {LABELS}.gz, "
        "which torchvision's MNIST class also downloads)"
    )
    hub: ClassVar[str | None] = "ylecun/mnist"
    checksums: ClassVar[Mapping[str, str]] = {
        IMAGES: "6bbc9ace898e44ae57da46a324031adb",
        LABELS: "a25bea736e30d166cdddb491f175f624",
    }
