"""Checkpoints: a run as it was after some round, whole or not at all.

A checkpoint is a small manifest that names the server's file and each client's, with checksums. Files are written before
the manifest that names them and never changed after it. The last two checkpoints are kept.
"""

import contextlib
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.core.state import State
from superfed.engine.clients import ClientStates, Version, gather_loose
from superfed.engine.tensors import read_state, write_state
from superfed.store.files import remove_parts, sha256, sha256_of, sync_file, sync_folder, write_text

KEPT = 2
SCHEMA = 1


@dataclass(frozen=True)
class Manifest:
    """``round`` rounds are done; ``record`` is what was measured in them."""

    round: int
    server_sha256: str
    clients: dict[int, Version]
    record: dict[str, Any]


class Checkpoints:
    """The checkpoints of one run in one folder, which is made with the first: who only looks for one leaves nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clients = folder / "clients"
        self._kept: list[Manifest] = []

    def save(self, round: int, server: State, states: ClientStates, record: dict[str, Any]) -> None:
        versions = states.flush(self.clients)
        checksum = write_state(self._server_file(round), server, durable=False)
        sync_file(self._server_file(round))  # its folder waits for the disk with the manifest, written next
        manifest = Manifest(round, checksum, versions, record)
        write_text(self._manifest_file(round), _seal(manifest))
        if not self._kept:
            sync_folder(self.folder.parent)  # it names a folder that may be new
        self._kept = [m for m in self._kept if m.round != round] + [manifest]
        self._prune()

    def load(self, states: ClientStates) -> tuple[Manifest, State] | None:
        """The newest checkpoint that is whole, with its server state; clients' states go into ``states``.

        A damaged one is passed over with a warning. What no kept checkpoint names is cleared away.
        """
        gather_loose(self.clients)
        whole = [m for path in sorted(self.folder.glob("round-*.json")) if (m := self._whole(path)) is not None]
        self._kept = whole[-KEPT:]
        self._sweep()
        if not whole:
            return None
        newest = whole[-1]
        states.restore(self.clients, newest.clients)
        server = {name: t.clone() for name, t in read_state(self._server_file(newest.round)).items()}
        return newest, server

    def _whole(self, path: Path) -> Manifest | None:
        try:
            manifest = _unseal(path)
            files = [(self._server_file(manifest.round), manifest.server_sha256)]
            files += [(v.file(self.clients, c), v.sha256) for c, v in manifest.clients.items()]
            for file, checksum in files:
                if not file.exists():
                    raise UserError(f"{file.name} is missing")
                if sha256_of(file) != checksum:
                    raise UserError(f"{file.name} is damaged")
        except UserError as problem:
            warnings.warn(f"checkpoint {path} cannot be used: {problem}", stacklevel=2)
            return None
        return manifest

    def keep_the_last(self) -> None:
        """Remove all others."""
        self._prune(1)

    def _prune(self, keep: int = KEPT) -> None:
        """Remove what only older checkpoints than those name; costs what those name, not a walk of the folder."""
        dropped, self._kept = self._kept[:-keep], self._kept[-keep:]
        for manifest in dropped:
            self._manifest_file(manifest.round).unlink(missing_ok=True)
            self._server_file(manifest.round).unlink(missing_ok=True)
            for client, version in manifest.clients.items():
                if all(kept.clients.get(client) != version for kept in self._kept):
                    version.file(self.clients, client).unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Remove every file that no kept checkpoint names, as a killed run leaves them."""
        shards = [path for path in self.clients.glob("*") if path.is_dir()]
        for folder in (self.folder, self.clients, *shards):
            remove_parts(folder)
        named = {self._server_file(m.round) for m in self._kept} | {self._manifest_file(m.round) for m in self._kept}
        named |= {v.file(self.clients, c) for m in self._kept for c, v in m.clients.items()}
        for path in [*self.folder.glob("*.*"), *self.clients.glob("*/*.*")]:
            if path not in named:
                path.unlink(missing_ok=True)
        for shard in shards:
            if not any(shard.iterdir()):
                shard.rmdir()

    def _manifest_file(self, round: int) -> Path:
        return self.folder / f"round-{round:06d}.json"

    def _server_file(self, round: int) -> Path:
        return self.folder / f"server.round-{round:06d}.safetensors"


def newest(folder: Path) -> Manifest | None:
    """What the newest checkpoint says of itself, if there is one; the states that it names are not looked at."""
    for path in sorted(folder.glob("round-*.json"), reverse=True):
        with contextlib.suppress(UserError, FileNotFoundError):  # damaged, or gone by now: the one before it
            return _unseal(path)
    return None


def _seal(manifest: Manifest) -> str:
    """The manifest as text whose first line is the checksum of the rest."""
    clients = {str(client): [v.round, v.sha256] for client, v in manifest.clients.items()}
    body = json.dumps({"schema": SCHEMA, **vars(manifest), "clients": clients})
    return f'{{"sha256": "{sha256(body.encode())}", "manifest":\n{body}\n}}\n'


def _unseal(path: Path) -> Manifest:
    lines = path.read_text(errors="replace").split("\n")
    if len(lines) < 3 or sha256(lines[1].encode()) not in lines[0]:
        raise UserError(f"{path.name} is damaged")
    body = json.loads(lines[1])
    if body["schema"] != SCHEMA:
        raise UserError(f"{path.name} has schema {body['schema']}, and this program reads {SCHEMA}")
    clients = {int(client): Version(*version) for client, version in body["clients"].items()}
    return Manifest(body["round"], body["server_sha256"], clients, body["record"])
