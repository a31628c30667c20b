"""A hub that is a folder: repositories as the Hugging Face hub lays them out, and ways to go wrong."""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from superfed.core.errors import UserError
from superfed.data.fetch import HubFile, Listing

COMMIT = "c0ffee" * 6 + "c0de"


@dataclass
class FolderHub:
    """``damage`` maps a file's path to what is put in its place; ``fails_at`` is the file at which the line breaks."""

    folder: Path
    damage: dict[str, bytes] = field(default_factory=dict)
    fails_at: str | None = None
    license: str | None = "mit"
    downloads: list[list[str]] = field(default_factory=list)

    def put(self, repo: str, path: str, content: bytes) -> None:
        place = self.folder / repo / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    def address(self, repo: str) -> str:
        return f"https://hub.example/datasets/{repo}"

    def listing(self, repo: str, revision: str | None) -> Listing:
        place = self.folder / repo
        if not place.is_dir():
            raise UserError(f"{repo}: the hub has no such dataset, or does not show it to you")
        if revision not in (None, "main", COMMIT):
            raise UserError(f"{repo}: has no revision '{revision}'")
        files = [path for path in sorted(place.rglob("*")) if path.is_file()]
        return Listing(COMMIT, tuple(_described(place, path) for path in files), self.license)

    def download(self, repo: str, commit: str, files: Sequence[str], folder: Path) -> None:
        assert commit == COMMIT
        self.downloads.append(list(files))
        for path in files:
            source, target = self.folder / repo / path, folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if path == self.fails_at:
                target.write_bytes(source.read_bytes()[:3])
                raise UserError(f"{repo}: the hub cannot be reached (connection lost); is there a network?")
            shutil.copyfile(source, target)
            if path in self.damage:
                target.write_bytes(self.damage[path])


def _described(place: Path, path: Path) -> HubFile:
    content = path.read_bytes()
    small = path.suffix != ".parquet"
    return HubFile(str(path.relative_to(place)), len(content), None if small else hashlib.sha256(content).hexdigest())
