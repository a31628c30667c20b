"""What CIFAR-10 and CIFAR-100 share: pickled batches of 32×32 images in colour."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from superfed.core.errors import UserError
from superfed.data.array_pickle import load_arrays

SHAPE = (3, 32, 32)


def read_batches(paths: Iterable[Path], name: str, labels: str, num_classes: int) -> tuple[Tensor, Tensor]:
    """Inputs, and the labels that batches of the dataset ``name`` keep under ``labels``."""
    batches = [_read_batch(path, name, labels, num_classes) for path in paths]
    x = np.concatenate([images for images, _ in batches]).reshape(-1, *SHAPE)
    return torch.from_numpy(x), torch.from_numpy(np.concatenate([y for _, y in batches]))


def _read_batch(
    path: Path, name: str, key: str, num_classes: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    batch = load_arrays(path)
    images, labels = batch.get(b"data"), batch.get(key.encode())
    if images is None or labels is None:
        raise UserError(f"{path}: has no {'data' if images is None else key}, which a {name} batch holds")
    if not isinstance(images, np.ndarray) or images.dtype != np.uint8 or images.shape[1:] != (3 * 32 * 32,):
        raise UserError(f"{path}: its data are not rows of 3072 bytes, one row an image")
    if not _are_labels(labels, num_classes):
        raise UserError(f"{path}: its {key} are not a list of whole numbers from 0 to {num_classes - 1}")
    if len(images) != len(labels) or len(images) == 0:
        raise UserError(f"{path}: holds {len(images)} images and {len(labels)} {key}")
    return images, np.array(labels, dtype=np.int64)


def _are_labels(labels: Any, num_classes: int) -> bool:
    if isinstance(labels, np.ndarray):
        labels = labels.tolist()
    return isinstance(labels, list) and all(type(label) is int and 0 <= label < num_classes for label in labels)
