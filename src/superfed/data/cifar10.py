"""CIFAR-10 from its own files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from superfed.core.errors import UserError
from superfed.data.array_pickle import load_arrays
from superfed.data.dataset import Dataset
from superfed.data.files import FileDataset, Found, Tick, silent
from superfed.data.missing import is_file, missing_files, root_or_error

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

    def find(self, root: Path | None) -> Found:
        root = root_or_error(self.key, root, FOLDER, SOURCE)
        paths = [root / FOLDER / batch for batch in BATCHES]
        missing = [path for path in paths if not is_file(path)]
        if missing:
            raise missing_files(self.key, missing, root / FOLDER, SOURCE)
        return Found("files", tuple(paths))

    def read(self, found: Found, tick: Tick = silent) -> Dataset:
        batches = [_read_batch(path) for path in found.files]
        images = np.concatenate([images for images, _ in batches])
        labels = np.concatenate([labels for _, labels in batches])
        x = torch.from_numpy(images.reshape(-1, 3, 32, 32))
        return Dataset(self.key, x, torch.from_numpy(labels), num_classes=10, scale=1 / 255)


def _read_batch(path: Path) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    batch = load_arrays(path)
    images, labels = batch.get(b"data"), batch.get(b"labels")
    if images is None or labels is None:
        raise UserError(f"{path}: has no {'data' if images is None else 'labels'}, which a CIFAR-10 batch holds")
    if not isinstance(images, np.ndarray) or images.dtype != np.uint8 or images.shape[1:] != (3 * 32 * 32,):
        raise UserError(f"{path}: its data are not rows of 3072 bytes, one row an image")
    if not _are_labels(labels):
        raise UserError(f"{path}: its labels are not a list of whole numbers from 0 to 9")
    if len(images) != len(labels) or len(images) == 0:
        raise UserError(f"{path}: holds {len(images)} images and {len(labels)} labels")
    return images, np.array(labels, dtype=np.int64)


def _are_labels(labels: Any) -> bool:
    if isinstance(labels, np.ndarray):
        labels = labels.tolist()
    return isinstance(labels, list) and all(type(label) is int and 0 <= label <= 9 for label in labels)
