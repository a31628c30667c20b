"""Datasets decoded once: kept as memory-mapped arrays, opened in milliseconds, shared by all processes that use them."""

import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from superfed.core.errors import UserError
from superfed.data.cache_entry import DamagedError, Entry
from superfed.data.files import FileDataset, Found, Tick, silent
from superfed.data.pool import Pool
from superfed.data.registry import DatasetSettings
from superfed.data.synthetic import Synthetic
from superfed.store.lock import turn

VARIABLE = "SUPERFED_CACHE"
OFF = "off"


class NotKeptError(UserError):
    """The cache cannot be written to. ``pool`` is what was to be kept, if it has been read already."""

    def __init__(self, cache: Path, error: Exception, pool: Pool | None) -> None:
        cause = error.__cause__ or error
        reason = getattr(cause, "strerror", None) or cause
        super().__init__(f"{cache}: prepared datasets cannot be kept there ({reason})")
        self.pool = pool


class Prepared(NamedTuple):
    pool: Pool
    entry: Entry
    fresh: bool
    """Whether it was made just now, and not there already."""


def cache_place(given: str | Path | None = None) -> Path | None:
    """Where prepared datasets go: ``given``, or what SUPERFED_CACHE names ("off" is nowhere), or the usual place."""
    place = str(given or os.environ.get(VARIABLE) or "")
    if place:
        return None if place == OFF else Path(place)
    base = os.environ.get("XDG_CACHE_HOME", "")
    with suppress(RuntimeError):  # nobody's home
        return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "superfed"
    return None


def load(settings: DatasetSettings, root: Path | None, cache: Path | None, tick: Tick = silent) -> Pool | Synthetic:
    """The dataset: from the cache if it is prepared, and otherwise read, and prepared for the next time."""
    if not isinstance(settings, FileDataset):
        return settings.load(root)
    found = settings.find(root)
    pool: Pool | None = None
    if cache is not None:
        try:
            return prepare(settings, found, cache, tick).pool
        except NotKeptError as problem:
            warnings.warn(f"{problem}; going on without", stacklevel=2)
            pool = problem.pool
    if pool is None:
        pool = settings.read(found, tick)
    return pool


def prepare(settings: FileDataset[Pool], found: Found, cache: Path, tick: Tick = silent) -> Prepared:
    """The dataset in the cache, made if it is not there; ``NotKeptError`` where that cannot be.

    Of several processes that want the same, one makes it while the others wait.
    """
    entry = Entry.of(settings, found, cache)
    with suppress(DamagedError):
        return Prepared(entry.open(), entry, fresh=False)
    with ExitStack() as stack:
        with _keeping(cache):
            cache.mkdir(parents=True, exist_ok=True)
            _clear(cache)
            stack.enter_context(turn(entry.lock))
        if entry.path.exists():  # somebody made it while we waited, or it is damaged
            try:
                return Prepared(entry.open(), entry, fresh=False)
            except DamagedError as damage:
                warnings.warn(f"{entry.path}: is damaged ({damage}); made anew", stacklevel=2)
                with _keeping(cache):
                    entry.remove()
        pool = settings.read(found, tick)
        if Entry.of(settings, found, cache) != entry:
            raise UserError(f"{settings.key}: its files changed while they were read; try again")
        with _keeping(cache, pool):
            entry.write(pool)
            return Prepared(entry.open(), entry, fresh=True)


def _clear(cache: Path) -> None:
    """Remove what killed preparations left, unless somebody is at work on it."""
    for part in cache.glob(".*.part"):
        entry = Entry(cache / part.name[1:].rsplit(".", 2)[0])
        with turn(entry.lock, wait=False) as held:
            if held:
                shutil.rmtree(part, ignore_errors=True)


@contextmanager
def _keeping(cache: Path, pool: Pool | None = None) -> Iterator[None]:
    try:
        yield
    except (OSError, UserError, DamagedError) as error:
        raise NotKeptError(cache, error, pool) from error
