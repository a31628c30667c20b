"""MNIST with its writers as clients."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from superfed.core.errors import UserError
from superfed.data.dataset import Dataset
from superfed.data.files import Found, Tick, silent
from superfed.data.missing import SET_ROOT, is_file
from superfed.data.mnist import Mnist
from superfed.data.npz import load_npz
from superfed.data.pool import Owners

WRITERS = "MNIST/writers.npz"
ARRAY = "train_writer"


@dataclass(frozen=True)
class MnistWriters(Mnist):
    """MNIST's 60,000 training images, each with the one of 539 people who wrote it."""

    key: ClassVar[str] = "mnist_writers"
    hub: ClassVar[str | None] = None

    def find(self, root: Path | None) -> Found:
        images = super().find(root)
        assert root is not None  # or it would not have been found
        writers = root / WRITERS
        if not is_file(writers):
            raise UserError(
                f"{self.key}: looked for {writers} and found nothing; it must hold an array '{ARRAY}' with a whole "
                "number for each of MNIST's training images, the writer's, which QMNIST's labels give; save it by "
                f"numpy.savez ({SET_ROOT})"
            )
        return Found("files", (*images.files, writers))

    def read(self, found: Found, tick: Tick = silent) -> Dataset:
        images_at, labels_at, writers_at = found.files
        dataset = super().read(Found("files", (images_at, labels_at)), tick)
        writers = _read_writers(writers_at)
        if len(writers) != len(dataset):
            raise UserError(f"{writers_at}: holds {len(writers)} writers for the {len(dataset)} images of {images_at}")
        numbers, of = np.unique(writers, return_inverse=True)
        return dataclasses.replace(dataset, owners=Owners([f"writer {number}" for number in numbers.tolist()], of))


def _read_writers(path: Path) -> npt.NDArray[Any]:
    def only_writers(names: list[str]) -> list[str]:
        if ARRAY not in names:
            held = f"has no array '{ARRAY}', only {', '.join(names)}" if names else "is empty"
            raise UserError(f"{path}: {held}")
        return [ARRAY]

    writers = load_npz(path, only_writers)[ARRAY]
    if writers.dtype.kind not in "iu" or writers.ndim != 1:
        raise UserError(f"{path}: its array '{ARRAY}' is not one whole number for each image")
    return writers
