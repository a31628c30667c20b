"""Anyone's arrays, tensors or lists read as inputs and labels, or refused in a sentence."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from superfed.core.errors import UserError

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]

MOST_CLASSES = 2**31


def read_inputs(value: object, where: str) -> Array:
    """``value`` as an array of finite numbers, one row per sample; a copy only where its type leaves no choice."""
    array = _read(value, f"{where}: the inputs")
    # Python has one floating type, so its numbers say nothing about the precision that is meant.
    if array.dtype == np.float64 and isinstance(value, (list, tuple)) and not _typed(value):
        with np.errstate(over="ignore"):
            array = array.astype(np.float32)
    if array.ndim < 2 or 0 in array.shape:
        raise UserError(
            f"{where}: the inputs have shape {array.shape}, but need a row of values per sample, such as "
            f"({len(array) if array.ndim else 1}, 1)"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise UserError(f"{where}: the inputs hold NaN or infinite values; clean or fill them first")
    return array


def read_labels(value: object, where: str, num_classes: int | None) -> IntArray:
    """``value``, which is not empty, as int64 labels from 0 on, below ``num_classes`` where that is known."""
    array = _read(value, f"{where}: the labels")
    if array.ndim != 1:
        raise UserError(f"{where}: the labels have shape {array.shape}, but must be one number per sample")
    if array.dtype.kind == "f" and not (np.isfinite(array) & (array == np.floor(array))).all():
        raise UserError(
            f"{where}: the labels are not whole numbers; a label is the number of a class, 0, 1, 2 and so on"
        )
    low, high = int(array.min()), int(array.max())
    if low < 0:
        raise UserError(f"{where}: holds the label {low}, but labels begin at 0")
    limit = MOST_CLASSES if num_classes is None else num_classes
    if high >= limit:
        raise UserError(f"{where}: holds the label {high}, but {limit} classes are 0 to {limit - 1}")
    return array.astype(np.int64, copy=False)


def to_tensor(array: Array) -> Tensor:
    """As a network takes it, in the type :func:`handed_out_as` says; no copy if none is needed."""
    dtype = handed_out_as(array.dtype)
    # Torch takes only memory that is writable and runs forwards.
    return torch.from_numpy(np.require(array, dtype=dtype, requirements=["C", "W"]))


def handed_out_as(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Float32 and float64 stay; unsigned numbers (pixels) become float32, unscaled; signed ones (tokens) int64."""
    if dtype.kind == "i":
        return np.dtype(np.int64)
    return np.dtype(np.float64 if dtype.kind == "f" and dtype.itemsize >= 8 else np.float32)


def _read(value: object, what: str) -> Array:
    if isinstance(value, (list, tuple)):
        return _read_list(value, what)
    if isinstance(value, Tensor):
        return _read_tensor(value, what)
    return _checked(np.asarray(value), what)


def _read_tensor(tensor: Tensor, what: str) -> Array:
    if tensor.layout != torch.strided:
        raise UserError(f"{what} are a sparse tensor; call to_dense() first")
    tensor = tensor.detach().cpu()
    # The one floating type that numpy does not have.
    tensor = tensor.float() if tensor.dtype == torch.bfloat16 else tensor
    try:
        array: Array = tensor.numpy()
    except (TypeError, RuntimeError) as error:
        raise UserError(f"{what} are of type {tensor.dtype}, which are not plain numbers") from error
    return _checked(array, what)


def _read_list(rows: Sequence[object], what: str) -> Array:
    try:
        array = np.stack([_read(row, what) for row in rows]) if _typed(rows) else np.asarray(rows)
    except (ValueError, TypeError, OverflowError) as error:
        raise UserError(f"{what} have rows of different shapes or are not numbers") from error
    return _checked(array, what)


def _typed(rows: Sequence[object]) -> bool:
    return any(isinstance(row, (np.ndarray, Tensor)) for row in rows)


def _checked(array: Array, what: str) -> Array:
    if array.dtype.kind in "US":
        raise UserError(f"{what} are strings; give numbers")
    if array.dtype.kind == "O":
        raise UserError(f"{what} are Python objects; give an array of numbers, every row of the same shape")
    if array.dtype.kind not in "fiub":
        raise UserError(f"{what} are of type {array.dtype}, which are not plain numbers")
    return array
