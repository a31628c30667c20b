"""The most memory that some work takes, on top of what was held before: on a GPU what torch allocates there, on a CPU
what the process holds."""

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch

MIB = 2**20

Result = TypeVar("Result")


def allocated(device: torch.device) -> int:
    """Bytes that torch holds on a GPU now."""
    gc.collect()
    return torch.cuda.memory_allocated(device) if device.type == "cuda" else 0


def with_peak(work: Callable[[], Result], device: torch.device, before: int) -> tuple[Result, float | None]:
    """What ``work`` gives, and the MiB it took at most; None where that cannot be had.

    On a GPU ``before`` is what was allocated earlier, since an earlier call may have left what this one uses.
    """
    gc.collect()
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        result = work()
        return result, (torch.cuda.max_memory_allocated(device) - before) / MIB
    if not _forget_peak():
        return work(), None
    held = _status_kib("VmRSS")
    result = work()
    return result, (_status_kib("VmHWM") - held) / 1024


def _forget_peak() -> bool:
    """Linux remembers the most that a process ever held, and can be asked to begin anew."""
    try:
        ctypes.CDLL(None).malloc_trim(0)  # what earlier work left unused would hide what this one takes
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):
        return False
    return True


def _status_kib(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    (kib,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return int(kib)
