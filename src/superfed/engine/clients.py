"""What clients keep between rounds. It costs nothing until a client first takes part."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from superfed.core.state import State
from superfed.engine.tensors import read_state, write_state
from superfed.store.files import settle, sync_folder

PER_FOLDER = 1000
"""How many clients share a folder: a million files in one make every listing of it slow."""


@dataclass(frozen=True)
class Version:
    """A client's state as it was after ``round``, in a file with this checksum. A version's file is never written over."""

    round: int
    sha256: str

    def file(self, folder: Path, client: int) -> Path:
        return _file(folder, client, self.round)


class ClientStates(Protocol):
    """States by client. Methods that keep nothing put empty states, which are not stored."""

    def get(self, client: int) -> State | None: ...

    def put(self, client: int, state: State, round: int) -> None: ...

    def flush(self, folder: Path) -> dict[int, Version]:
        """See that all states are in files in ``folder``; which version of each client is the present one."""
        ...

    def restore(self, folder: Path, versions: dict[int, Version]) -> None: ...


class MemoryStates:
    """States kept in memory, and written to files when a checkpoint wants them."""

    def __init__(self) -> None:
        self._states: dict[int, State] = {}
        self._changed: dict[int, int] = {}
        self._versions: dict[int, Version] = {}

    def get(self, client: int) -> State | None:
        return self._states.get(client)

    def put(self, client: int, state: State, round: int) -> None:
        if state:
            self._states[client] = state
            self._changed[client] = round

    def flush(self, folder: Path) -> dict[int, Version]:
        for client, round in self._changed.items():
            checksum = write_state(_file(folder, client, round), self._states[client], durable=False)
            self._versions[client] = Version(round, checksum)
        _settle(folder, self._changed, self._versions)
        self._changed.clear()
        return dict(self._versions)

    def restore(self, folder: Path, versions: dict[int, Version]) -> None:
        self._versions = dict(versions)
        self._changed.clear()
        self._states = {
            c: {n: t.clone() for n, t in read_state(v.file(folder, c)).items()} for c, v in versions.items()
        }


class DiskStates:
    """States kept in files and memory-mapped when read, for more clients than memory holds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._versions: dict[int, Version] = {}
        self._changed: set[int] = set()

    def get(self, client: int) -> State | None:
        version = self._versions.get(client)
        return None if version is None else read_state(version.file(self._folder, client))

    def put(self, client: int, state: State, round: int) -> None:
        if not state:
            return
        checksum = write_state(_file(self._folder, client, round), state, durable=False)
        if client in self._changed:  # no checkpoint refers to the older file
            self._versions[client].file(self._folder, client).unlink(missing_ok=True)
        self._versions[client] = Version(round, checksum)
        self._changed.add(client)

    def flush(self, folder: Path) -> dict[int, Version]:
        _settle(folder, self._changed, self._versions)
        self._changed.clear()
        return dict(self._versions)

    def restore(self, folder: Path, versions: dict[int, Version]) -> None:
        self._versions = dict(versions)
        self._changed.clear()


def gather_loose(folder: Path) -> None:
    """Put files that lie loose in ``folder``, as earlier versions of the program left them, where they belong."""
    for path in folder.glob("client-*.safetensors"):
        place = _shard(folder, int(path.name[len("client-") :].partition(".")[0]))
        place.mkdir(exist_ok=True)
        path.rename(place / path.name)


def _file(folder: Path, client: int, round: int) -> Path:
    return _shard(folder, client) / f"client-{client:07d}.round-{round:06d}.safetensors"


def _shard(folder: Path, client: int) -> Path:
    return folder / f"{client // PER_FOLDER:04d}"


def _settle(folder: Path, clients: Collection[int], versions: Mapping[int, Version]) -> None:
    """See that a loss of power takes nothing of these clients' present files."""
    settle(versions[client].file(folder, client) for client in clients)
    if clients:
        sync_folder(folder)
