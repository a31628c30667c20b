"""Pickles from the outside world: arrays of numbers and nothing else.

A pickle names the functions to call while it is read, so reading one is running it. Here every name is answered by a
stand-in defined below, and a name without one is refused: no function of numpy or of any other module is ever reached.
"""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from superfed.core.errors import UserError

NUMBERS = {kind + size for kind, sizes in (("u", "1248"), ("i", "1248"), ("f", "248")) for size in sizes}


def load_arrays(path: Path) -> dict[Any, Any]:
    """The dict pickled in ``path``, its arrays as arrays and its Python 2 strings as bytes."""
    try:
        with open(path, "rb") as file:
            content = _ArrayUnpickler(file, encoding="bytes").load()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except _RefusedError as error:
        raise UserError(
            f"{path}: asks to run {error}, which a file of arrays never needs; it was refused and nothing was run"
        ) from error
    except Exception as error:  # a damaged pickle can fail in any way whatever
        raise UserError(f"{path}: is not a whole pickle of arrays ({error}); fetch it again") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: holds a {type(content).__name__}, expected a dict")
    return {key: value.array if isinstance(value, _Array) else value for key, value in content.items()}


class _RefusedError(Exception):
    """A name that has no stand-in."""


class _Dtype:
    """Stands in for numpy.dtype."""

    __slots__ = ("dtype",)

    def __init__(self, code: str | bytes, *_: object) -> None:
        text = code.decode() if isinstance(code, bytes) else code
        if text not in NUMBERS:
            raise ValueError(f"an array of type {text!r} is not one of numbers")
        self.dtype: np.dtype[Any] = np.dtype(text)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        order: Any = state[1].decode() if isinstance(state[1], bytes) else state[1]
        self.dtype = self.dtype.newbyteorder(order)


class _Array:
    """Stands in for numpy.ndarray."""

    __slots__ = ("array",)

    def __init__(self) -> None:
        self.array: npt.NDArray[Any] = np.empty(0)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, by_column, content = state
        self.array = np.frombuffer(content, dtype=kind.dtype).reshape(shape, order="F" if by_column else "C")


class _Reconstruct:
    """Stands in for the function that makes an array yet to be filled."""

    __slots__ = ()

    def __call__(self, *_: object) -> _Array:
        return _Array()


class _FromBuffer:
    """Stands in for the function that pickle protocol 5 makes arrays with."""

    __slots__ = ()

    def __call__(self, content: bytes, kind: _Dtype, shape: tuple[int, ...], order: str) -> _Array:
        array = _Array()
        array.__setstate__((1, shape, kind, order == "F", content))
        return array


class _Encode:
    """Stands in for _codecs.encode, by which Python 3 writes bytes in the protocols of Python 2."""

    __slots__ = ()

    def __call__(self, text: str, encoding: str) -> bytes:
        if encoding != "latin1":
            raise ValueError(f"bytes are written as latin1, not {encoding}")
        return text.encode("latin1")


_STAND_INS: dict[tuple[str, str], Callable[..., object]] = {
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Array,
    ("numpy.core.multiarray", "_reconstruct"): _Reconstruct(),
    ("numpy._core.multiarray", "_reconstruct"): _Reconstruct(),
    ("numpy.core.numeric", "_frombuffer"): _FromBuffer(),
    ("numpy._core.numeric", "_frombuffer"): _FromBuffer(),
    ("_codecs", "encode"): _Encode(),
}


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _STAND_INS[module, name]
        except KeyError:
            raise _RefusedError(f"{module}.{name}") from None
