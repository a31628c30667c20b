"""Samples from image files: one, a folder of them, or a folder with a folder for each class."""

from pathlib import Path

import numpy as np

from superfed.core.errors import UserError
from superfed.data.gathered import in_order
from superfed.data.images import decode_shaped
from superfed.data.labels import labels_of
from superfed.data.preprocessing import BYTES
from superfed.export.card import Card
from superfed.export.samples.given import Given

ENDINGS = (".png", ".jpg", ".jpeg")


def read_image(path: Path, card: Card) -> Given:
    return _given(str(path), [path], [path.name], None, card)


def read_folder(folder: Path, card: Card) -> Given:
    """Images in the folder itself; or else in its folders, whose names are then the classes."""
    flat = _images_in(folder)
    if flat:
        return _given(str(folder), flat, [path.name for path in flat], None, card)
    places = sorted((p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")), key=_order)
    files = [path for place in places for path in _images_in(place)]
    if not files:
        raise UserError(f"{folder}: holds no images ({', '.join(ENDINGS)}), nor folders of them")
    names = [f"{path.parent.name}/{path.name}" for path in files]
    return _given(str(folder), files, names, [path.parent.name for path in files], card)


def _given(where: str, files: list[Path], names: list[str], classes: list[str] | None, card: Card) -> Given:
    shape = card.preprocessing.input_shape
    if len(shape) != 3 or shape[0] not in (1, 3):
        raise UserError(f"{where}: holds images, and the model takes inputs of shape {shape}")
    if card.preprocessing.raw != BYTES:
        raise UserError(
            f"{where}: holds images, but the model was trained on {card.preprocessing.raw} inputs, and how these were "
            "made of pixels is not known; give arrays"
        )
    channels, height, width = shape
    x = np.stack([decode_shaped(_content(path), str(path), (channels, height, width)) for path in files])
    if classes is None:
        return Given(where, x, names)
    numbers = card.class_names is None and all(name.isdecimal() for name in classes)
    labels = labels_of([int(name) for name in classes] if numbers else classes, where, card.num_classes)
    return Given(where, x, names, labels)


def _images_in(folder: Path) -> list[Path]:
    try:
        found = [path for path in folder.iterdir() if path.suffix.lower() in ENDINGS and path.is_file()]
    except OSError as error:
        raise UserError(f"{folder}: cannot be read: {error.strerror}") from error
    return sorted((path for path in found if not path.name.startswith(".")), key=_order)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error


def _order(path: Path) -> tuple[list[str | int], str]:
    return in_order(path.name)
