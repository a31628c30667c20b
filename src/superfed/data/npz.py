"""Arrays from anyone's .npz files; nothing in them can make the program run code."""

import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from superfed.core.errors import UserError
from superfed.data.arrays import Array

DAMAGE = (OSError, ValueError, EOFError, KeyError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error)
"""What numpy and zipfile raise over broken files."""


def load_npz(path: Path, choose: Callable[[list[str]], list[str]]) -> dict[str, Array]:
    """The arrays that ``choose`` picks, when it is shown the names of all."""
    try:
        with path.open("rb") as opened:  # numpy would leave a broken one open
            file = np.load(opened, allow_pickle=False)
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise _damaged(path)
            return {name: _load(file, name, path) for name in choose(list(file))}
    except DAMAGE as error:
        raise _damaged(path) from error


def _load(file: np.lib.npyio.NpzFile, name: str, path: Path) -> Array:
    try:
        array: Array = file[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise UserError(
            f"{path}: its array '{name}' holds pickled Python objects, which are not loaded; save plain numbers or text"
        ) from error
    return array


def _damaged(path: Path) -> UserError:
    return UserError(f"{path}: is no .npz file or a damaged one; write it again with numpy.savez")
