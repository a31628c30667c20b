"""What MNIST and Fashion-MNIST share: an idx file of 28×28 images, and one of their labels."""

from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from superfed.core.errors import UserError
from superfed.data.dataset import Dataset
from superfed.data.files import FileDataset, Found, Tick, silent
from superfed.data.hub_images import read_hub_images
from superfed.data.idx import read_idx
from superfed.data.missing import root_or_error
from superfed.data.places import look_for

IMAGES = "train-images-idx3-ubyte"
LABELS = "train-labels-idx1-ubyte"


class IdxImages(FileDataset[Dataset]):
    """The 60,000 training images, the pool that clients are dealt from; the test files are not used."""

    title: ClassVar[str]
    """What people call it."""
    folders: ClassVar[tuple[str, ...]]
    """Where under the data root its files may lie, the usual folder first."""
    source: ClassVar[str]

    def find(self, root: Path | None) -> Found:
        root = root_or_error(self.key, root, self.folders[0], self.source)
        candidates = [
            [root / folder / file for folder in self.folders for file in (name, f"{name}.gz")]
            for name in (IMAGES, LABELS)
        ]
        return look_for(self, root, candidates, root / self.folders[0], self.source)

    def read(self, found: Found, tick: Tick = silent) -> Dataset:
        if found.layout == "hub":
            x, y = read_hub_images(found.files, "image", "label", (1, 28, 28), 10, tick)
        else:
            x, y = self._read_pair(*found.files)
        return Dataset(self.key, x, y, num_classes=10, scale=1 / 255)

    def _read_pair(self, images_at: Path, labels_at: Path) -> tuple[Tensor, Tensor]:
        images = read_idx(images_at, (28, 28))
        labels = read_idx(labels_at, ())
        if len(images) != len(labels):
            raise UserError(f"{labels_at}: holds {len(labels)} labels for the {len(images)} images of {images_at}")
        if labels.max() > 9:
            raise UserError(f"{labels_at}: holds the label {labels.max()}, but {self.title}'s labels are 0 to 9")
        return torch.from_numpy(images[:, None]), torch.from_numpy(labels).to(torch.int64)
