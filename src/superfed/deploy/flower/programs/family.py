"""Every process that a process has started, and theirs, so that none is left behind."""

import contextlib
import ctypes
import os
import signal
import time
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
_LIBC = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None


def die_with_parent() -> None:
    """For a child, before it becomes what it is to be: when its parent is gone, however, it goes too."""
    if _LIBC is not None and hasattr(_LIBC, "prctl"):
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def adopt_orphans() -> None:
    """Whoever loses its parent below this process becomes its child, so that it can be found."""
    if _LIBC is not None and hasattr(_LIBC, "prctl"):
        _LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(root: int) -> dict[int, str]:
    """All processes below ``root`` that are alive, each with when it started, which tells it from a later namesake."""
    parents: dict[int, int] = {}
    started: dict[int, str] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent, *rest = entry.read_text().rpartition(")")[2].split()
            if state != "Z":
                pid = int(entry.parent.name)
                parents[pid], started[pid] = int(parent), rest[17]
    found: dict[int, str] = {}
    front = [root]
    while front:
        above = set(front)
        front = [pid for pid, parent in parents.items() if parent in above and pid not in found]
        found |= {pid: started[pid] for pid in front}
    return found


def end_family(root: int, *, patience: float = 8.0, keep: int | None = None) -> None:
    """End ``root`` and all below it: politely, then not. ``keep`` is left alone, though not what is below it."""
    everyone = descendants(root)
    mine = descendants(os.getpid())
    if root in mine:
        everyone[root] = mine[root]
    everyone.pop(keep if keep is not None else -1, None)
    if root in everyone:
        _tell(root, signal.SIGTERM)
    until = time.monotonic() + patience
    while alive := _alive(everyone):
        if time.monotonic() > until - patience / 2:
            for pid in alive:
                _tell(pid, signal.SIGTERM)
        if time.monotonic() > until:
            for pid in alive:
                _tell(pid, signal.SIGKILL)
            return
        everyone |= {pid: when for pid in alive for pid, when in descendants(pid).items() if pid != keep}
        time.sleep(0.05)


def _alive(family: dict[int, str]) -> list[int]:
    now = descendants(1) | descendants(os.getpid())
    return [pid for pid, when in family.items() if now.get(pid) == when]


def _tell(pid: int, what: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, what)
