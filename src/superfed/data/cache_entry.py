"""One prepared dataset on disk: its arrays as .npy files, and what else is to be known in facts.json."""

import importlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from superfed.core.errors import UserError
from superfed.data.files import FileDataset, Found
from superfed.data.fingerprint import fingerprint
from superfed.data.pool import Packed, Pool
from superfed.store.files import read_json, sync_folder, write_json

SCHEMA = 1
"""Counts up when entries come to be written differently; old ones are then no longer found."""
FACTS = "facts.json"
POOLS = {"Dataset": "superfed.data.dataset", "TextWindows": "superfed.data.text"}
"""The pools that may be kept, and where they are defined."""


class DamagedError(Exception):
    """An entry that is there and cannot be used."""


@dataclass(frozen=True)
class Entry:
    """A folder of the cache; its name tells the dataset, and a digest of all that decides what is in it."""

    path: Path

    @classmethod
    def of(cls, settings: FileDataset[Pool], found: Found, cache: Path) -> "Entry":
        digest = fingerprint(
            SCHEMA,
            settings.reader,
            asdict(cast(Any, settings)),
            found.layout,
            [_identity(path) for path in found.files],
        )
        return cls(cache / f"{settings.key}-{digest[:16]}")

    @property
    def key(self) -> str:
        return self.path.name.rpartition("-")[0]

    @property
    def lock(self) -> Path:
        return self.path.with_name(f".{self.path.name}.lock")

    @property
    def is_there(self) -> bool:
        return os.path.isfile(self.path / FACTS)

    def size(self) -> int:
        """In bytes."""
        return sum(os.path.getsize(path) for path in self.path.glob("*") if path.is_file())

    def open(self, *, trust: bool = True) -> Pool:
        """The pool around memory-mapped arrays, or ``DamagedError``; without ``trust`` its digest is yet to be found."""
        try:
            facts = read_json(self.path / FACTS)
            arrays = {name: self._array(name, expected) for name, expected in facts["arrays"].items()}
            kind: type[Pool] = getattr(importlib.import_module(POOLS[facts["pool"]]), facts["pool"])
            return kind.unpack(Packed(arrays, facts["facts"]), str(facts["digest"]) if trust else None)
        except Exception as error:  # damage can show itself in any way whatever
            raise DamagedError(str(error)) from error

    def write(self, pool: Pool) -> None:
        """Keep the pool: all of it, durably and in one move, or nothing."""
        arrays, facts = pool.pack()
        part = Path(tempfile.mkdtemp(dir=self.path.parent, prefix=f".{self.path.name}.", suffix=".part"))
        try:
            sizes = {name: _save(part / f"{name}.npy", array) for name, array in arrays.items()}
            content = {"pool": type(pool).__name__, "digest": pool.digest(), "arrays": sizes, "facts": facts}
            write_json(part / FACTS, content)
            os.chmod(part, 0o755)
            self._move_here(part)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        sync_folder(self.path.parent)

    def remove(self) -> None:
        shutil.rmtree(self.path)

    def _move_here(self, part: Path) -> None:
        try:
            os.rename(part, self.path)
        except OSError:
            if not self.is_there:
                raise
            shutil.rmtree(part)  # without a lock somebody else was faster, and theirs is as good

    def _array(self, name: str, expected: Mapping[str, Any]) -> npt.NDArray[Any]:
        path = self.path / f"{name}.npy"
        if (size := path.stat().st_size) != expected["bytes"]:
            raise ValueError(f"{path.name} has {size} bytes, not {expected['bytes']}")
        array: npt.NDArray[Any] = np.load(path, mmap_mode="c", allow_pickle=False)
        if (array.dtype.str, list(array.shape)) != (expected["dtype"], expected["shape"]):
            raise ValueError(f"{path.name} holds {array.dtype.str} {list(array.shape)}")
        return array


def entries(cache: Path | None) -> list[Entry]:
    """Every entry of the cache, whole or not."""
    return [] if cache is None else [Entry(path) for path in sorted(cache.glob("[!.]*")) if path.is_dir()]


def _identity(path: Path) -> str:
    """What changes when a file does."""
    try:
        stat = path.stat()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    return f"{stat.st_size} {stat.st_mtime_ns} {os.path.abspath(path)}"


def _save(path: Path, array: npt.NDArray[Any]) -> dict[str, Any]:
    """Not ``np.save``, whose error on a full disk is two numbers."""
    array = np.ascontiguousarray(array)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(array.reshape(-1).view(np.uint8).data)
        file.flush()
        os.fsync(file.fileno())
    return {"bytes": path.stat().st_size, "dtype": array.dtype.str, "shape": list(array.shape)}
