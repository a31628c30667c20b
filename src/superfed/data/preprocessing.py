"""What becomes of raw inputs before a network sees them, so that it can be done again where the data is not."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from superfed.core.errors import UserError
from superfed.core.samples import FederatedData
from superfed.data.arrays import Array, read_inputs
from superfed.data.dataset import Dataset
from superfed.data.own import OwnData
from superfed.data.text import TextWindows

BYTES = "uint8"
SYMBOLS = "int64"


@dataclass(frozen=True)
class Preprocessing:
    """From inputs as people have them to inputs as the network takes them."""

    input_shape: tuple[int, ...]
    dtype: str
    """What the network takes: float32 or float64, or int64 for symbols."""
    raw: str
    """What the data was before it was scaled: uint8 for pixels."""
    scale: float = 1.0
    """What raw inputs are multiplied by; symbols are not."""
    alphabet: str | None = None
    """For text: a character's place in it is its number. Characters that are not in it are read as spaces."""

    @classmethod
    def of(cls, data: FederatedData, precision: torch.dtype) -> "Preprocessing":
        """That of a network in this precision, trained on this data."""
        pool, shape = getattr(data, "pool", None), tuple(data.input_shape)
        if isinstance(pool, TextWindows):
            return cls(shape, SYMBOLS, SYMBOLS, alphabet=pool.alphabet)
        taken = data.train(0).x.dtype
        dtype = _name(precision) if taken.is_floating_point else SYMBOLS
        if isinstance(pool, Dataset):
            return cls(shape, dtype, _name(pool.x.dtype), pool.scale)
        return cls(shape, dtype, data.given_as if isinstance(data, OwnData) else _name(taken))

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Preprocessing":
        """The reverse of ``as_plain``; whatever is wrong with it is a ``KeyError``, ``TypeError`` or ``ValueError``."""
        shape, scale, alphabet = tuple(plain["input_shape"]), float(plain["scale"]), plain.get("alphabet")
        if not all(type(side) is int and side > 0 for side in shape):
            raise ValueError("input_shape")
        if plain["dtype"] not in ("float32", "float64", SYMBOLS) or not np.isfinite(scale):
            raise ValueError("dtype")
        if alphabet is not None and not isinstance(alphabet, str):
            raise TypeError("alphabet")
        return cls(shape, plain["dtype"], str(plain["raw"]), scale, alphabet)

    def as_plain(self) -> dict[str, Any]:
        return asdict(self) | {"input_shape": list(self.input_shape)}

    def inputs(self, given: object, where: str) -> Array:
        """``given``, a row per sample, as the network takes it.

        Bytes and whole numbers are raw and get scaled. Floating-point numbers do, too, unless the network was trained on
        bytes: then they are taken to be scaled already.
        """
        array = read_inputs(given, where)
        if array.shape[1:] != self.input_shape:
            raise UserError(
                f"{where}: its inputs have shape {array.shape[1:]}, and the model was trained on {self.input_shape}"
            )
        if self.dtype == SYMBOLS:
            return self._symbols(array, where)
        ready = array.dtype.kind == "f" and self.raw == BYTES
        with np.errstate(over="ignore"):
            numbers = array.astype(np.float32 if self.scale != 1.0 and not ready else self.dtype)
            scaled = numbers if ready or self.scale == 1.0 else numbers * np.float32(self.scale)
        if not np.isfinite(scaled).all():
            raise UserError(
                f"{where}: the inputs hold values that are too large for {self.dtype}; scale them down first"
            )
        return scaled.astype(self.dtype, copy=False)

    def _symbols(self, array: Array, where: str) -> Array:
        if array.dtype.kind not in "iu":
            raise UserError(f"{where}: the inputs are {array.dtype}, but the model takes the numbers of symbols")
        low, high = int(array.min()), int(array.max())
        if low < 0 or (self.alphabet is not None and high >= len(self.alphabet)):
            last = "" if self.alphabet is None else f" and end at {len(self.alphabet) - 1}"
            raise UserError(
                f"{where}: the inputs hold {low if low < 0 else high}, but the numbers of symbols begin at 0{last}"
            )
        return array.astype(np.int64, copy=False)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
