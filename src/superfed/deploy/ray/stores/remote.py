"""A store that fsspec opens: a bucket, a server's folder. Machines compute in folders of their own, and copy.

Files go up before the manifests that name them, and away after those that named them: so whenever a machine dies, the last
whole checkpoint in the store is whole.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from superfed.core.errors import UserError
from superfed.deploy.ray.stores.kinds import Marked, Save

WHOLE = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "oss", "memory")
"""Kinds in which a file is there whole or not at all; in others it gets its name when it is."""
OF_THE_EXPERIMENT = ("experiment.json", "config.yaml")
FIXED = "checkpoints"
"""Files in there never change once they have their names; all others may."""


@dataclass
class Remote(Marked):
    in_place = False
    url: str

    @property
    def option(self) -> str:
        return f" --store {self.url}"

    def check(self) -> None:
        with self._usable():
            self._files().make("", b"superfed\n", ".store")

    def mark(self, folder: Path) -> None:
        """The experiment's own files go into the store too: with them, it can be gone on with from anywhere."""
        experiment = folder.absolute().parent
        if experiment not in self.marks:
            super().mark(folder)
            names = [name for name in OF_THE_EXPERIMENT if (experiment / name).exists()]
            with self._usable():
                self._files().upload(self._home(experiment), experiment, names)

    @contextmanager
    def taken(self, folder: Path) -> Iterator[tuple[Path, Save]]:
        files, key = self._files(), self._key(folder)
        with tempfile.TemporaryDirectory(prefix="superfed-") as scratch:
            place = Path(scratch) / key
            place.mkdir(parents=True)
            files.download(key, place)
            known = _looks(place)

            def save() -> None:
                nonlocal known
                now = _looks(place)
                files.upload(key, place, [name for name, look in now.items() if known.get(name) != look])
                files.remove(key, [name for name in known if name not in now])
                known = now

            yield place, save

    def fetch(self, folder: Path) -> None:
        with self._usable():
            self._files().download(self._key(folder), folder)

    def _key(self, folder: Path) -> str:
        """A run's name in the store: the experiment's and its own."""
        return f"{self._home(folder.absolute().parent)}/{folder.name}"

    def _home(self, experiment: Path) -> str:
        return f"{experiment.name}-{self.marks[experiment][:8]}"

    def _files(self) -> "_Files":
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]

        return _Files(*url_to_fs(self.url))

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Whatever a kind of store may raise is said in a sentence."""
        try:
            yield
        except Exception as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise UserError(f"--store {self.url}: cannot be used ({said})") from error


class _Files:
    """A folder tree of an fsspec file system."""

    def __init__(self, system: Any, root: str) -> None:
        self._system, self._root = system, root.rstrip("/")
        kinds = [system.protocol] if isinstance(system.protocol, str) else system.protocol
        self._whole = any(kind in WHOLE for kind in kinds)

    def make(self, key: str, content: bytes, name: str) -> None:
        self._system.makedirs(self._root, exist_ok=True)
        self._system.pipe_file(self._at(key, name), content)

    def download(self, key: str, place: Path) -> None:
        """Have in ``place`` what is stored: files that may have changed anew, and no checkpoint that is not there."""
        self._system.invalidate_cache()
        base = self._at(key)
        found = self._system.find(base, detail=True) if self._system.exists(base) else {}
        sizes = {str(PurePosixPath(path).relative_to(base)): facts["size"] for path, facts in found.items()}
        names = [name for name in sizes if not name.endswith(".part")]
        if not names:
            return
        for name in names:
            path = place / name
            if not (_is_fixed(name) and path.exists() and path.stat().st_size == sizes[name]):
                path.parent.mkdir(parents=True, exist_ok=True)
                self._system.get_file(self._at(key, name), str(path))
        for name in _looks(place):
            if _is_fixed(name) and name not in sizes:
                (place / name).unlink()

    def upload(self, key: str, place: Path, names: Sequence[str]) -> None:
        for some in _in_turns(names):
            for parent in sorted({str(PurePosixPath(name).parent) for name in some}):
                self._system.makedirs(self._at(key, parent), exist_ok=True)
            ending = "" if self._whole else ".part"
            local, there = [str(place / name) for name in some], [self._at(key, name) for name in some]
            if some:
                self._system.put(local, [path + ending for path in there])
            if ending:
                for path in there:
                    self._system.mv(path + ending, path)

    def remove(self, key: str, names: Sequence[str]) -> None:
        if names:
            self._system.rm([self._at(key, name) for name in names])

    def _at(self, *parts: str) -> str:
        return str(PurePosixPath(self._root, *parts))


def _is_fixed(name: str) -> bool:
    return name.startswith(f"{FIXED}/")


def _in_turns(names: Sequence[str]) -> list[list[str]]:
    """States first, then the manifests that name them and all else, and last of all what says how far the run is."""
    states = [name for name in names if name.endswith(".safetensors")]
    last = [name for name in names if name == "run.json"]
    return [states, [name for name in names if name not in {*states, *last}], last]


def _looks(place: Path) -> dict[str, tuple[int, int]]:
    """The files in ``place``, and by what a changed one is known."""
    return {
        path.relative_to(place).as_posix(): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in place.rglob("*")
        if path.is_file() and not path.name.endswith(".part")
    }
