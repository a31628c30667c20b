"""Fashion-MNIST from its own files, or from the hub's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from superfed.data.idx_images import IMAGES, LABELS, IdxImages


@dataclass(frozen=True)
class FashionMnist(IdxImages):
    """The 60,000 training images, the pool that clients are dealt from; Fashion-MNIST's own test files are not used.

    Its files are named as MNIST's are, so they are looked for in folders of its own alone.
    """

    key: ClassVar[str] = "fashion_mnist"
    title: ClassVar[str] = "Fashion-MNIST"
    folders: ClassVar[tuple[str, ...]] = ("FashionMNIST/raw", "FashionMNIST")
    source: ClassVar[str] = (
        f"Zalando's Fashion-MNIST ({IMAGES}.gz and {LABELS}.gz, which torchvision's FashionMNIST class also downloads)"
    )
    hub: ClassVar[str | None] = "zalando-datasets/fashion_mnist"
    checksums: ClassVar[Mapping[str, str]] = {
        IMAGES: "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        LABELS: "9018921c3c673c538a1fc5bad174d6f9",
    }
