"""MNIST from its own files."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch

from superfed.core.errors import UserError
from superfed.data.dataset import Dataset
from superfed.data.files import FileDataset, Found, Tick, silent
from superfed.data.idx import read_idx
from superfed.data.missing import is_file, missing_files, root_or_error

FOLDER = "MNIST/raw"
IMAGES = "train-images-idx3-ubyte"
LABELS = "train-labels-idx1-ubyte"
SOURCE = (
    f"the MNIST database of LeCun, Cortes and Burges ({IMAGES}.gz and {LABELS}.gz, "
    "which torchvision's MNIST class also downloads)"
)


@dataclass(frozen=True)
class Mnist(FileDataset[Dataset]):
    """The 60,000 training images, the pool that clients are dealt from; MNIST's own test files are not used."""

    key: ClassVar[str] = "mnist"

    def find(self, root: Path | None) -> Found:
        root = root_or_error(self.key, root, FOLDER, SOURCE)
        candidates = {name: _candidates(root, name) for name in (IMAGES, LABELS)}
        found = {name: next(filter(is_file, paths), None) for name, paths in candidates.items()}
        images, labels = found[IMAGES], found[LABELS]
        if images is None or labels is None:
            looked_for = [path for name in found if found[name] is None for path in candidates[name]]
            raise missing_files(self.key, looked_for, root / FOLDER, SOURCE)
        return Found("files", (images, labels))

    def read(self, found: Found, tick: Tick = silent) -> Dataset:
        images_at, labels_at = found.files
        images = read_idx(images_at, (28, 28))
        labels = read_idx(labels_at, ())
        if len(images) != len(labels):
            raise UserError(f"{labels_at}: holds {len(labels)} labels for the {len(images)} images of {images_at}")
        if labels.max() > 9:
            raise UserError(f"{labels_at}: holds the label {labels.max()}, but MNIST's labels are 0 to 9")
        y = torch.from_numpy(labels).to(torch.int64)
        return Dataset(self.key, torch.from_numpy(images[:, None]), y, num_classes=10, scale=1 / 255)


def _candidates(root: Path, name: str) -> list[Path]:
    folders = (root / FOLDER, root / "MNIST", root)
    return [folder / file for folder in folders for file in (name, f"{name}.gz")]
