"""Seconds, with whatever a device still has to do counted in."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch


def settled(device: torch.device) -> float:
    """The time, once the device has nothing left to do."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def seconds(work: Callable[[], object], device: torch.device) -> float:
    """By the clock on the wall."""
    began = settled(device)
    work()
    return settled(device) - began


def core_seconds(work: Callable[[], object], device: torch.device) -> float:
    """On a CPU the seconds that this process has a core for: other programs on the machine take none of these."""
    if device.type != "cpu":
        return seconds(work, device)
    began = time.process_time()
    work()
    return time.process_time() - began


class Clock:
    """Adds up seconds under names."""

    def __init__(self, device: torch.device) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._device = device

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        began = settled(self._device)
        yield
        self.seconds[name] += settled(self._device) - began
