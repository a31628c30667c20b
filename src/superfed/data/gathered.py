"""Samples that were read piece by piece, checked against each other and put together into one pool."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from superfed.core.errors import UserError, require
from superfed.data.arrays import Array
from superfed.data.checks import finite
from superfed.data.dataset import Dataset
from superfed.data.labels import Labels, agree
from superfed.data.pool import Owners
from superfed.data.split import CUT, TEST, VALIDATION

IMAGE_SCALE = 1 / 255
PARTS = {"train": CUT, "validation": VALIDATION, "test": TEST}
"""What people say a sample is for. What a client brings no samples for is cut from those it trains with."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Samples from one file, or of one client; ``where`` is how a sentence calls it."""

    where: str
    x: Array
    labels: Labels
    parts: npt.NDArray[np.int8] | None = None
    columns: Sequence[str] | None = None
    """Those that stand side by side in ``x``, where it was made of several."""
    images: bool = False


def as_kept(array: Array, where: str) -> Array:
    """In the type a pool keeps: bytes as uint8, signed whole numbers (text) as int64, all others as float32 or smaller."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "b" or (kind == "u" and size == 1):
        return array.astype(np.uint8, copy=False)
    if kind == "i":
        return array.astype(np.int64, copy=False)
    with np.errstate(over="ignore"):
        small = array.astype(np.float16 if size == 2 and kind == "f" else np.float32, copy=False)
    if size > 4 and not np.isfinite(small).all():
        raise UserError(f"{where}: the inputs hold values that are too large for float32; scale them down first")
    return small


def in_order(name: str) -> tuple[list[str | int], str]:
    """To sort clients by, so that user9 comes before user10."""
    words = re.split(r"(\d{1,18})", name)
    return [int(word) if place % 2 else word for place, word in enumerate(words)], name


def scale_in_range(scale: float | None) -> None:
    """Pixels and other inputs are multiplied by it."""
    if scale is not None:
        require(finite("scale", scale) > 0, "scale", f"must be more than 0, not {scale}")


def gathered(
    name: str,
    pieces: Sequence[Piece],
    owners: Owners | None,
    scale: float | None = None,
    num_classes: int | None = None,
    class_names: Sequence[str] | None = None,
) -> Dataset:
    """One pool of all pieces, in their order. Without ``scale``, images are divided by 255."""
    _all_alike(pieces)
    numbers, classes = agree([(piece.where, piece.labels) for piece in pieces], num_classes, class_names)
    if scale is None:
        scale = IMAGE_SCALE if pieces[0].images else 1.0
    return Dataset(
        name,
        torch.from_numpy(_joined([piece.x for piece in pieces])),
        torch.from_numpy(_joined(numbers)),
        classes.how_many,
        scale,
        owners,
        classes.names,
        _parts(pieces, owners),
    )


def _all_alike(pieces: Sequence[Piece]) -> None:
    """One network serves all, so one shape and one type must."""
    first = pieces[0]
    for piece in pieces:
        if piece.columns != first.columns:
            raise UserError(
                f"{piece.where}: its columns of inputs are {_listed(piece)}, but those of {first.where} are "
                f"{_listed(first)}; give all the same, in the same order"
            )
        if piece.x.shape[1:] != first.x.shape[1:]:
            raise UserError(
                f"{piece.where}: its inputs have shape {piece.x.shape[1:]}, but those of {first.where} have "
                f"{first.x.shape[1:]}; use one shape for all"
            )
        if piece.x.dtype != first.x.dtype:
            raise UserError(
                f"{piece.where}: its inputs are {piece.x.dtype}, but those of {first.where} are {first.x.dtype}; "
                "use one type for all"
            )


def _listed(piece: Piece) -> str:
    return "one array" if piece.columns is None else ", ".join(piece.columns)


def _joined(arrays: Sequence[Array]) -> Array:
    joined = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    # Torch takes only memory that is writable and runs forwards.
    return np.require(joined, dtype=joined.dtype.newbyteorder("="), requirements=["C", "W"])


def _parts(pieces: Sequence[Piece], owners: Owners | None) -> npt.NDArray[np.int8] | None:
    """For which part each sample was given, None where all are for us to split."""
    given = [np.full(len(p.labels), CUT, dtype=np.int8) if p.parts is None else p.parts for p in pieces]
    parts = np.concatenate(given)
    if (parts == CUT).all():
        return None
    if owners is not None:
        trains = np.bincount(owners.of[parts == CUT], minlength=len(owners.names))
        if not trains.all():
            who = owners.names[int(np.argmin(trains))]
            raise UserError(f"client '{who}': has samples for validation or test, but none to train with; leave it out")
    return parts
