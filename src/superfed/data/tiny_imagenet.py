"""Tiny-ImageNet from its own folder, or from the hub's files."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from superfed.core.errors import SettingError, UserError
from superfed.data.checks import whole
from superfed.data.dataset import Dataset
from superfed.data.files import FileDataset, Found, Tick, silent
from superfed.data.hub_images import read_hub_images
from superfed.data.images import decode_shaped
from superfed.data.missing import is_file, root_or_error
from superfed.data.places import look_for

FOLDER = "tiny-imagenet-200"
CLASSES, WORDS = "wnids.txt", "words.txt"
WNID = re.compile(r"n\d{8}")
SHAPE = (3, 64, 64)
PUBLISHED = 500
SOURCE = "Stanford's Tiny-ImageNet (tiny-imagenet-200.zip)"


@dataclass(frozen=True)
class TinyImageNet(FileDataset[Dataset]):
    """The training images, 500 of each class or as many as there are, the pool that clients are dealt from.

    Tiny-ImageNet's own validation and test images are not used. Classes are numbered as in wnids.txt; the hub numbers
    them by the order of their ids.
    """

    key: ClassVar[str] = "tiny_imagenet"
    hub: ClassVar[str | None] = "zh-plus/tiny-imagenet"

    per_class: int | None = None
    """The first so many images of each class, by the numbers in their names or, in the hub's files, as they come; that there
    are as many is made sure. Without it, all that there are."""

    def __post_init__(self) -> None:
        if self.per_class is not None:
            whole("per_class", self.per_class, least=1, most=PUBLISHED)

    def find(self, root: Path | None) -> Found:
        root = root_or_error(self.key, root, FOLDER, SOURCE)
        folder = root / FOLDER
        found = look_for(self, root, [[folder / CLASSES]], folder, SOURCE)
        if found.layout == "hub":
            return found
        words = [folder / WORDS] if is_file(folder / WORDS) else []
        images = [
            path for wnid in _wnids(folder / CLASSES) for path in self._images(folder / "train" / wnid / "images")
        ]
        return Found("files", (*found.files, *words, *images))

    def _images(self, folder: Path) -> list[Path]:
        images = _images(folder)
        if self.per_class is None:
            return images
        self._check(len(images), folder.parent.name)
        return sorted(sorted(images, key=_number)[: self.per_class])

    def _check(self, count: int, whose: str) -> None:
        if count < (self.per_class or 0):
            wanted = f"{self.per_class} images of each class are wanted, and {whose} has {count}"
            raise SettingError("dataset.per_class", f"{wanted}; give no number, or a smaller one")

    def read(self, found: Found, tick: Tick = silent) -> Dataset:
        if found.layout == "hub":
            x, y = self._first(*read_hub_images(found.files, "image", "label", SHAPE, 200, tick))
            return Dataset(self.key, x, y, 200, 1 / 255, note=_note(y, 200))
        classes, *files = found.files
        wnids = _wnids(classes)
        words = _words(files.pop(0)) if files[0].name == WORDS else {}
        names = [words.get(wnid, wnid) for wnid in wnids]
        x, y = _read_images(files, wnids, tick)
        return Dataset(self.key, x, y, len(wnids), 1 / 255, class_names=names, note=_note(y, len(wnids)))

    def _first(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """So many of each class, in the order they have."""
        if self.per_class is None:
            return x, y
        counts = torch.bincount(y, minlength=200)
        self._check(int(counts.min()), f"class {int(counts.argmin())}")
        by_class = torch.argsort(y, stable=True)
        place = torch.arange(len(y)) - (counts.cumsum(0) - counts)[y[by_class]]
        chosen = by_class[place < self.per_class].sort().values
        return x[chosen], y[chosen]


def _number(path: Path) -> tuple[int, str]:
    """``n01443537_12.JPEG`` → 12; what has no number comes last, by its name."""
    digits = path.stem.rpartition("_")[2]
    return (int(digits), "") if digits.isdecimal() else (PUBLISHED, path.name)


def _wnids(path: Path) -> list[str]:
    """The ids of the classes, in order."""
    wnids = _lines(path)
    for line, wnid in enumerate(wnids, start=1):
        if not WNID.fullmatch(wnid):
            raise UserError(f"{path}: line {line} is {wnid!r}, expected the id of a class such as n02124075")
        if wnid in wnids[: line - 1]:
            raise UserError(f"{path}: line {line} is {wnid}, which is there already")
    if not wnids:
        raise UserError(f"{path}: holds no classes")
    return wnids


def _words(path: Path) -> dict[str, str]:
    """What each id means: on each line an id, a tab, and words."""
    pairs = [line.split("\t", 1) for line in _lines(path)]
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").rstrip().splitlines()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is not a text file; unpack it again") from error


def _images(folder: Path) -> list[Path]:
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        names = []
    except OSError as error:
        raise UserError(f"{folder}: cannot be read: {error.strerror}") from error
    images = [folder / name for name in sorted(names) if name.endswith(".JPEG")]
    if not images:
        raise UserError(f"{folder}: has no .JPEG files, but {CLASSES} names that class; unpack it again")
    return images


def _read_images(files: Sequence[Path], wnids: Sequence[str], tick: Tick) -> tuple[Tensor, Tensor]:
    """One after the other: by measurement, threads are no faster."""
    label_of = {wnid: label for label, wnid in enumerate(wnids)}
    x = np.empty((len(files), *SHAPE), dtype=np.uint8)
    for i, path in enumerate(files):
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from error
        x[i] = decode_shaped(content, str(path), SHAPE)
        tick(i + 1, len(files))
    y = torch.tensor([label_of[path.parent.parent.name] for path in files], dtype=torch.int64)
    return torch.from_numpy(x), y


def _note(y: Tensor, num_classes: int) -> str:
    """How many of the published images there are."""
    counts = torch.bincount(y, minlength=num_classes)
    least, most = int(counts.min()), int(counts.max())
    some = f"{least}" if least == most else f"between {least} and {most}"
    return f"{some} of {PUBLISHED} training images per class ({len(y):,} in all)"
