"""Arrays in NumPy's own format, of which only the header is read here; torch is not needed for that."""

import io
from collections.abc import Mapping
from dataclasses import dataclass

from numpy.lib import format as npy

Arrays = Mapping[str, bytes]
"""Each array as ``numpy.save`` writes it, by name."""


@dataclass(frozen=True)
class Shape:
    """What an array is, or must be."""

    shape: tuple[int, ...]
    dtype: str


def described(data: bytes) -> tuple[Shape, int]:
    """What the header of an array promises, and where the numbers begin."""
    buffer = io.BytesIO(data)
    version = npy.read_magic(buffer)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, dtype = read_header(buffer)
    if by_columns or dtype.hasobject:
        raise ValueError("columns first, or objects")
    return Shape(tuple(shape), str(dtype)), buffer.tell()
