"""The room that runs take on a disk, known before they are made: hundreds of clients' models, of hundreds of runs."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from superfed.reproduce.cells import PlannedRun
from superfed.reproduce.plan import Counting
from superfed.reproduce.running import in_jobs, needs_models


def room_for(runs: Sequence[PlannedRun], keep_models: bool) -> int:
    """Bytes at the least: of all models that stay, and of those of the largest job, until that is finished."""
    counting = Counting()
    stay, leave = 0, [0]
    for job in in_jobs(runs):
        sizes = [(run, counting.cost(counting.task(run.config)).state_bytes) for run in job]
        stay += sum(size for run, size in sizes if keep_models or needs_models(run))
        leave.append(sum(size for run, size in sizes if not keep_models and not needs_models(run)))
    return stay + max(leave)


def room_at(folder: Path) -> int:
    """Bytes that are free where the folder is, or will be."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free
