"""What goes wrong in one run, told in a sentence, and what goes wrong for all of them."""

import errno
from collections.abc import Iterator, Mapping

from superfed.core.errors import UserError
from superfed.engine.workers import WorkerFailed, said

FOR_ALL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EPIPE)
"""A full disk, one that takes no writes, a reader of our output that went away: no run can go on by itself."""


class RunsFailed(UserError):
    """Some runs failed and the others did not, or all failed. ``again`` is the command that goes on with them."""

    def __init__(self, again: str, total: int, reasons: Mapping[str, str]) -> None:
        by_reason: dict[str, list[str]] = {}
        for name, reason in reasons.items():
            by_reason.setdefault(reason, []).append(name)
        told = "; ".join(f"{_some(names)} ({reason})" for reason, names in by_reason.items())
        super().__init__(f"{len(reasons)} of {total} runs failed: {told}; when the cause is gone, go on with: {again}")


def reason_of(error: BaseException) -> str:
    """The error as one line; what a worker process met counts as itself."""
    return error.reason if isinstance(error, WorkerFailed) else said(error)


def concerns_all(error: BaseException) -> bool:
    return any(isinstance(one, OSError) and one.errno in FOR_ALL for one in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _some(names: list[str], most: int = 3) -> str:
    """The names, or the first few of very many."""
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"
