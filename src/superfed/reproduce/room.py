"""The room that runs take on a disk, known before they are made: hundreds of clients' models, of hundreds of runs."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from superfed.reproduce.cells import PlannedRun
from superfed.reproduce.plan import Counting
from superfed.reproduce.running import needs_models


def room_for(jobs: Sequence[Sequence[PlannedRun]], keep_models: bool, *, in_place: bool = True) -> int:
    """Bytes of all models that stay, and of those of the largest job, until that is finished.

    Jobs come one after another, and the runs of a job at once. Unless they are computed ``in_place``, models that do not
    stay are never there.
    """
    counting = Counting()
    stay, leave = 0, [0]
    for job in jobs:
        sizes = [(run, counting.cost(counting.task(run.config)).state_bytes) for run in job]
        stay += sum(size for run, size in sizes if keep_models or needs_models(run))
        leave.append(sum(size for run, size in sizes if not keep_models and not needs_models(run)))
    return stay + (max(leave) if in_place else 0)


def room_at(folder: Path) -> int:
    """Bytes that are free where the folder is, or will be."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free
