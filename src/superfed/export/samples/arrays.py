"""Samples from .npz and .npy files."""

from pathlib import Path

import numpy as np

from superfed.core.errors import UserError
from superfed.data.arrays import Array
from superfed.data.labels import labels_of
from superfed.data.npz import DAMAGE, load_npz
from superfed.data.pairs import read_pair
from superfed.export.card import Card
from superfed.export.samples.given import Given, Wanted, numbered


def read_npz(path: Path, card: Card, wanted: Wanted) -> Given:
    """An array ``x`` of inputs, and labels if there is an array ``y``."""
    inputs, label = wanted.inputs or "x", wanted.label or "y"

    def chosen(names: list[str]) -> list[str]:
        for name in (inputs, *([label] if wanted.label is not None else [])):
            if name not in names:
                raise UserError(f"{path}: has no array '{name}', only {', '.join(names) or 'none'}")
        return [name for name in (inputs, label) if name in names]

    arrays = load_npz(path, chosen)
    x = one_or_more(arrays[inputs], card)
    if label not in arrays:
        return Given(str(path), x, numbered(len(x)))
    y = np.atleast_1d(arrays[label])
    if len(x) == len(y) > 0:
        return Given(str(path), x, numbered(len(x)), labels_of(y, str(path), card.num_classes))
    read_pair(x, y, str(path), card.num_classes)  # says what is wrong
    raise AssertionError("samples and labels differ in number")


def read_npy(path: Path, card: Card, wanted: Wanted) -> Given:
    """Inputs alone."""
    if wanted.label is not None or wanted.inputs is not None:
        raise UserError(f"{path}: is one array without a name, so it has no labels; save both as .npz")
    try:
        with path.open("rb") as file:
            array = np.load(file, allow_pickle=False)
    except DAMAGE as error:
        raise UserError(
            f"{path}: is no .npy file of plain numbers, or a damaged one; write it again with numpy.save"
        ) from error
    if not isinstance(array, np.ndarray):
        raise UserError(f"{path}: holds several arrays; call it .npz")
    x = one_or_more(array, card)
    return Given(str(path), x, numbered(len(x)))


def one_or_more(x: Array, card: Card) -> Array:
    """A sample by itself is one of one."""
    return x[None] if x.shape == card.preprocessing.input_shape else np.atleast_1d(x)
