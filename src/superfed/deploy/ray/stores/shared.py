"""A folder that every machine sees at the same path."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from superfed.core.errors import UserError
from superfed.deploy.ray.stores.kinds import MARK, Marked, Save
from superfed.store.files import sha256_of


@dataclass
class Shared(Marked):
    """Nothing is copied."""

    in_place = True

    @property
    def option(self) -> str:
        return ""

    def check(self) -> None:
        pass

    @contextmanager
    def taken(self, folder: Path) -> Iterator[tuple[Path, Save]]:
        mark = folder.parent / MARK
        if not mark.exists() or sha256_of(mark) != self.marks[folder.parent]:
            raise UserError(
                f"{socket.gethostname()} does not see {folder.parent}; name a folder that all machines share by --out, or a "
                "store that all can reach by --store"
            )
        yield folder, lambda: None

    def fetch(self, folder: Path) -> None:
        pass
