"""Images and labels from the hub's parquet files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from superfed.core.errors import UserError
from superfed.data.files import Tick, silent
from superfed.data.hub import hub_rows
from superfed.data.images import decode_shaped


def read_hub_images(
    files: Sequence[Path],
    image: str,
    label: str,
    shape: tuple[int, int, int],
    num_classes: int,
    tick: Tick = silent,
) -> tuple[Tensor, Tensor]:
    """Uint8 inputs of this shape [channels, height, width] and labels, from the columns with these names."""
    labels = [_labels(path, label, num_classes) for path in files]
    y = np.concatenate(labels)
    if len(y) == 0:
        raise UserError(f"{files[0]}: holds no images")
    x = np.empty((len(y), *shape), dtype=np.uint8)
    done = 0
    for path in files:
        first = done
        for rows in hub_rows([path], [image]):
            for cell in rows[image]:
                where = f"{path}, row {done - first} of '{image}'"
                x[done] = decode_shaped(_content(cell, where), where, shape)
                done += 1
                tick(done, len(y))
    return torch.from_numpy(x), torch.from_numpy(y)


def _labels(path: Path, column: str, num_classes: int) -> npt.NDArray[np.int64]:
    labels = [label for rows in hub_rows([path], [column]) for label in rows[column]]
    for row, label in enumerate(labels):
        where = f"{path}, row {row} of '{column}'"
        if label is None:
            raise UserError(f"{where}: is empty")
        if type(label) is not int or not 0 <= label < num_classes:
            raise UserError(f"{where}: holds {label!r}, expected a whole number from 0 to {num_classes - 1}")
    return np.array(labels, dtype=np.int64)


def _content(cell: Any, where: str) -> bytes:
    if cell is None:
        raise UserError(f"{where}: is empty")
    content = cell.get("bytes") if isinstance(cell, dict) else None
    if not isinstance(content, bytes):
        raise UserError(f"{where}: has no bytes of an image; fetch it again")
    return content
