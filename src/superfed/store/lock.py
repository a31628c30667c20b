"""One writer at a time: for an experiment's folder, and for anything a lock file stands for."""

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from superfed.core.errors import UserError
from superfed.store.layout import LOCK

try:
    import fcntl
except ImportError:  # no such lock on Windows
    fcntl = None  # type: ignore[assignment]


_held: set[Path] = set()
"""Folders this process holds: the kernel's lock keeps out other processes only."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder, or say that somebody else does.

    The lock goes with the process, however it ends; forked workers do not inherit it.
    """
    place = folder.resolve()
    if place in _held:
        raise UserError(f"{folder}: this process is working on it already")
    try:
        file = (folder / LOCK).open("w")
    except OSError as error:
        raise UserError(f"{folder}: cannot be locked ({error.strerror})") from error
    with file:
        if fcntl is not None:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UserError(f"{folder}: another process is working on it") from None
        _held.add(place)
        try:
            yield
        finally:
            _held.discard(place)


def nobody_holds(folder: Path) -> bool:
    """Whether it is known that no process works on the folder; asking takes nothing and leaves nothing.

    Where the system or the disk knows no such lock, it is not known.
    """
    if fcntl is None or folder.resolve() in _held:  # to close the file that this process holds would give the lock away
        return False
    try:
        with (folder / LOCK).open("rb") as file:
            os.lockf(file.fileno(), os.F_TEST, 0)
    except FileNotFoundError:  # nobody ever held it
        return True
    except OSError:
        return False
    return True


@contextmanager
def turn(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock file ``path``, made if need be, and say whether it is held; without ``wait`` only if it is free now.

    It keeps threads apart as well as processes, and goes with the process, however it ends. Where the system or the disk
    knows no such lock it is held by nobody.
    """
    with path.open("a") as file:
        held = fcntl is not None
        if held:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except OSError:
                held = False
        yield held


@contextmanager
def turn_in(folder: Path) -> Iterator[None]:
    """Hold a folder against others who ask for it so, waiting for them; nothing is left in it.

    For files that are read, changed and put back. Where the system or the disk knows no such lock there is none.
    """
    place = os.open(folder, os.O_RDONLY) if fcntl is not None else None
    try:
        if fcntl is not None and place is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        if place is not None:
            os.close(place)
