"""The idx format of MNIST and its relatives: a magic number, the sizes, then the bytes."""

import gzip
import math
import zlib
from pathlib import Path
from typing import IO, cast

import numpy as np
import numpy.typing as npt

from superfed.core.errors import UserError

GZIP = b"\x1f\x8b"
UINT8 = 0x08


def read_idx(path: Path, item_shape: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """The array [count, *item_shape] of uint8 in ``path``, gzipped or plain, or a sentence that names the file."""
    try:
        with open(path, "rb") as raw:
            packed = raw.read(len(GZIP)) == GZIP
            raw.seek(0)
            return _parse(cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw, path, item_shape)
    except EOFError as error:
        raise UserError(f"{path}: the gzip file is cut short; fetch it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{path}: the gzip file is damaged ({error}); fetch it again") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error


def _parse(stream: IO[bytes], path: Path, item_shape: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    magic = bytes([0, 0, UINT8, 1 + len(item_shape)])
    found = stream.read(4)
    if found != magic:
        raise UserError(
            f"{path}: begins with {found.hex() or 'nothing'}, but such an idx file begins with {magic.hex()}"
        )
    header = stream.read(4 * (1 + len(item_shape)))
    if len(header) < 4 * (1 + len(item_shape)):
        raise UserError(f"{path}: ends within its header; fetch it again")
    count, *shape = np.frombuffer(header, dtype=">u4").tolist()
    if tuple(shape) != item_shape:
        raise UserError(f"{path}: holds items of shape {tuple(shape)}, expected {item_shape}")
    expected = count * math.prod(item_shape)
    # One byte more than expected shows that there is more, however much that is.
    data = _read(stream, expected + 1)
    if len(data) > expected:
        raise UserError(f"{path}: has bytes after the {count} items its header promises")
    if len(data) < expected:
        raise UserError(f"{path}: promises {count} items in {expected} bytes, but only {len(data)} bytes are there")
    if count == 0:
        raise UserError(f"{path}: holds no items")
    # A copy, for memory that may be written to: torch warns about any other.
    return np.frombuffer(data, dtype=np.uint8).reshape(count, *item_shape).copy()


def _read(stream: IO[bytes], most: int) -> bytes:
    """Piece by piece: asked for all at once, a damaged header's promise would be set aside in memory first."""
    pieces: list[bytes] = []
    while most > 0 and (piece := stream.read(min(most, 1 << 20))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)
