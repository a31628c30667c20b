"""Datasets from a hub of them: only what is missing is fetched, and what is here is what the hub says it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple, Protocol

from superfed.core.errors import UserError
from superfed.data.hub import FOLDER, hub_files
from superfed.store.files import sha256_of


class HubFile(NamedTuple):
    path: str
    size: int
    sha256: str | None
    """None where the hub does not tell, which it does for all but small files."""


class Listing(NamedTuple):
    """What a repository holds at one commit."""

    commit: str
    files: tuple[HubFile, ...]
    license: str | None


class Hub(Protocol):
    """Whatever goes wrong there is a ``UserError``."""

    def listing(self, repo: str, revision: str | None) -> Listing: ...

    def address(self, repo: str) -> str:
        """Where people can look at it."""
        ...

    def download(self, repo: str, commit: str, files: Sequence[str], folder: Path) -> None:
        """Put these files into ``folder``, under their paths in the repository."""
        ...


@dataclass(frozen=True)
class Fetch:
    """One split of a repository, compared with what is here."""

    repo: str
    folder: Path
    commit: str
    license: str | None
    files: tuple[HubFile, ...]
    missing: tuple[HubFile, ...]

    def carry_out(self, hub: Hub) -> None:
        """Fetch what is missing; a file that then is not what the hub says it is is thrown away."""
        for file in self.missing:
            _remove(self.folder / file.path)
        hub.download(self.repo, self.commit, [file.path for file in self.missing], self.folder)
        wrong = {file.path: problem for file in self.missing if (problem := _problem(self.folder, file))}
        for path in wrong:
            _remove(self.folder / path)
        for problem in wrong.values():  # one is enough
            raise UserError(f"{problem}; it was thrown away: fetch it again")


def plan(hub: Hub, repo: str, root: Path, revision: str | None = None, split: str = "train") -> Fetch:
    """What there is to fetch: the split's Parquet files, or, where there are none, the table named as the repository."""
    listing = hub.listing(repo, revision)
    patterns = f"{split}-*.parquet", f"{repo.rpartition('/')[2]}.csv"
    candidates = (tuple(f for f in listing.files if fnmatch(Path(f.path).name, pattern)) for pattern in patterns)
    files = next(filter(None, candidates), ())
    if not files:
        raise UserError(f"{repo}: has neither {' nor '.join(patterns)} at {listing.commit[:12]}; try another revision")
    folder = root / FOLDER / repo
    others = set(hub_files(root, repo, split)) - {folder / file.path for file in files}
    if others:
        raise UserError(
            f"{min(others)}: is not in {repo} at {listing.commit[:12]} but would be read with what is; remove it first"
        )
    missing = tuple(file for file in files if _problem(folder, file))
    return Fetch(repo, folder, listing.commit, listing.license, files, missing)


def _problem(folder: Path, file: HubFile) -> str | None:
    path = folder / file.path
    try:
        if not path.is_file():
            return f"{path}: is not there after the download"
        if (size := path.stat().st_size) != file.size:
            return f"{path}: has {size:,} bytes where the hub says {file.size:,}"
        if file.sha256 is not None and (digest := sha256_of(path)) != file.sha256:
            return f"{path}: has the sha256 {digest[:12]}… where the hub says {file.sha256[:12]}…"
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    return None


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{path}: cannot be replaced ({error.strerror})") from error
