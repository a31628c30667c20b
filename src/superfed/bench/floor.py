"""The floor: the least time that a step can take on this device, by its products and by its memory traffic."""

from dataclasses import dataclass

import torch

from superfed.bench.case import Case
from superfed.bench.passes import numbers_per_step
from superfed.bench.rates import copy_rate, matmul_rate


@dataclass(frozen=True)
class Floor:
    """Of one step of one client."""

    flops: float
    num_bytes: float
    seconds: float
    bound: str
    """What it is decided by: ``products`` or ``memory``."""


def floor_of(case: Case, flops: float, lanes_at_once: int, device: torch.device) -> Floor:
    """``flops`` are those of a step; as many lanes as are computed at once share the caches."""
    task = case.task
    num_bytes = numbers_per_step(case) * task.model.dtype.itemsize
    by_products = flops / matmul_rate(device, task.precision)
    worked_on = int(num_bytes) * lanes_at_once // 2  # most of it is read and written at the same place
    by_memory = num_bytes / copy_rate(worked_on, device)
    bound = "products" if by_products > by_memory else "memory"
    return Floor(flops, num_bytes, max(by_products, by_memory), bound)
