"""One writer at a time for an experiment's folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from superfed.core.errors import UserError

try:
    import fcntl
except ImportError:  # no such lock on Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder, or say that another process does. The lock goes with the process, however it ends."""
    try:
        file = (folder / ".lock").open("w")
    except OSError as error:
        raise UserError(f"{folder}: cannot be locked ({error.strerror})") from error
    with file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UserError(f"{folder}: another process is working on it") from None
        yield
