"""FEMNIST, handwritten characters by their writers, from LEAF's files or the hub's."""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from superfed.core.errors import UserError
from superfed.data.dataset import Dataset
from superfed.data.files import FileDataset, Found, Tick, silent
from superfed.data.hub import FOLDER as HUB
from superfed.data.hub import hub_files, hub_rows
from superfed.data.hub_images import read_hub_images
from superfed.data.leaf import SHARDS, BadSamples, places, read_users, shard_folders, shards
from superfed.data.missing import missing_files, root_or_error
from superfed.data.pool import Owners

FOLDER = "leaf/femnist"
SOURCE = "LEAF's FEMNIST (github.com/TalwalkarLab/leaf, data/femnist/data/all_data after its preprocess.sh)"
REPO = "flwrlabs/femnist"
CLASSES = string.digits + string.ascii_uppercase + string.ascii_lowercase
SHAPE = (1, 28, 28)
PIXELS = 28 * 28

Written = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]
"""Images [count, PIXELS] and their labels."""


@dataclass(frozen=True)
class Femnist(FileDataset[Dataset]):
    """Characters of 62 classes (0–9, A–Z, a–z), 28×28, owned by those who wrote them; all of LEAF's all_data is read.

    Images are as LEAF has them: 1 is the white paper and 0 the ink, the other way round than in MNIST. Clients come
    from ``partition: natural``, whose ``fraction`` and ``min_samples`` are LEAF's.
    """

    key: ClassVar[str] = "femnist"
    hub: ClassVar[str | None] = REPO

    def find(self, root: Path | None) -> Found:
        root = root_or_error(self.key, root, FOLDER, SOURCE)
        looked_in = [folder for place in places(root, self.key) for folder in shard_folders(place)]
        for folder in looked_in:
            if files := shards(folder):
                return Found("leaf", files)
        if files := hub_files(root, REPO):
            return Found("hub", files)
        patterns = [folder / SHARDS for folder in looked_in]
        raise missing_files(self.key, patterns, root / FOLDER, SOURCE, root / HUB / REPO)

    def read(self, found: Found, tick: Tick = silent) -> Dataset:
        x, y, owners, idle = _from_hub(found.files, tick) if found.layout == "hub" else _from_leaf(found.files, tick)
        there = len(torch.unique(y))
        note = f"{len(y):,} images of {len(owners.names):,} writers; {there} of the {len(CLASSES)} classes are there"
        note += f"; writers without an image, left out: {idle:,}" if idle else ""
        return Dataset(self.key, x, y, len(CLASSES), scale=1 / 255, owners=owners, class_names=list(CLASSES), note=note)


def _from_leaf(files: Sequence[Path], tick: Tick) -> tuple[Tensor, Tensor, Owners, int]:
    """The images, their labels and writers, and how many users have no image."""
    # A bytearray grows where it is: a list of arrays would take twice the memory when they are joined.
    pixels, labels, writers, idle = bytearray(), list[npt.NDArray[np.int64]](), list[str](), 0
    for user in read_users(files, _written, tick):
        if user.samples is None:
            idle += 1
            continue
        images, marks = user.samples
        pixels += images.data
        labels.append(marks)
        writers.append(user.name)
    if not writers:
        raise UserError(f"{files[0]}: none of its users has an image; fetch it again")
    x = torch.frombuffer(pixels, dtype=torch.uint8).reshape(-1, *SHAPE)
    of = np.repeat(np.arange(len(writers), dtype=np.int32), [len(marks) for marks in labels])
    return x, torch.from_numpy(np.concatenate(labels)), Owners(writers, of), idle


def _written(x: list[Any], y: list[Any]) -> Written:
    """One writer's images and labels. LEAF wrote bytes as fractions of 255, so rounding gives the bytes back."""
    for i, label in enumerate(y):
        if type(label) is not int or not 0 <= label < len(CLASSES):
            raise BadSamples(f"y[{i}] is {label!r}, but labels are whole numbers from 0 to {len(CLASSES) - 1}")
    for i, image in enumerate(x):
        if not isinstance(image, list) or len(image) != PIXELS:
            size = f"has {len(image)} values" if isinstance(image, list) else "is not a list"
            raise BadSamples(f"x[{i}] {size}, but an image is a list of {PIXELS} pixels")
    try:
        images = np.array(x)
    except ValueError:  # lists within an image
        images = np.array(None)
    if images.dtype.kind not in "fiu" or images.ndim != 2:
        odd = next(i for i, image in enumerate(x) if not all(type(pixel) in (int, float) for pixel in image))
        raise BadSamples(f"x[{odd}] holds something that is not a number")
    wrong = ~((images >= 0) & (images <= 1))
    if wrong.any():
        i, at = (int(place) for place in np.argwhere(wrong)[0])
        raise BadSamples(f"x[{i}] has {images[i, at]} as its pixel {at}, but pixels are from 0 (ink) to 1 (paper)")
    return np.rint(images * 255).astype(np.uint8), np.array(y, dtype=np.int64)


def _from_hub(files: Sequence[Path], tick: Tick) -> tuple[Tensor, Tensor, Owners, int]:
    """As ``_from_leaf``; the hub counts its classes as LEAF does."""
    x, y = read_hub_images(files, "image", "character", SHAPE, len(CLASSES), tick)
    places: dict[str, int] = {}
    of = np.empty(len(y), dtype=np.int32)
    row = 0
    for path in files:
        for rows in hub_rows([path], ["writer_id"]):
            for writer in rows["writer_id"]:
                if not isinstance(writer, str):
                    raise UserError(f"{path}: a row has the writer_id {writer!r}, which should be the name of a writer")
                of[row] = places.setdefault(writer, len(places))
                row += 1
    return x, y, Owners(list(places), of), 0
