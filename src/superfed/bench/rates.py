"""What this device, or one core, can do: matrix products, and copies of as much memory as a step works on."""

from functools import cache

import torch

from superfed.bench.clock import core_seconds
from superfed.engine.executors import one_thread
from superfed.engine.precision import Precision, products_in

TRIES = 5


@cache
def matmul_rate(device: torch.device, precision: Precision = "float32") -> float:
    """Floating-point operations a second of a large product, at the best of some tries."""
    side = 8192 if device.type == "cuda" else 1024
    a, b = torch.rand(2, side, side, device=device, dtype=torch.bfloat16 if precision == "bf16" else torch.float32)
    out = torch.empty_like(a)
    with one_thread(), products_in(precision):
        quickest = min(core_seconds(lambda: torch.mm(a, b, out=out), device) for _ in range(TRIES))
    return 2 * side**3 / quickest


def copy_rate(num_bytes: int, device: torch.device) -> float:
    """Bytes read and written a second, where so many are worked on: on a CPU, a little memory lies in a cache."""
    least, most = (2**30 if device.type == "cuda" else 2**12), 2**30
    return _copy_rate(min(max(num_bytes, least), most).bit_length(), device)


@cache
def _copy_rate(bits: int, device: torch.device) -> float:
    half: int = 2 ** (bits - 2)  # so many bytes are copied onto as many: together about what was asked for
    source = torch.ones(half, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    times = max(4, 2**24 // half)

    def copies() -> None:
        for _ in range(times):
            target.copy_(source)

    with one_thread():
        quickest = min(core_seconds(copies, device) for _ in range(TRIES))
    return 2 * half * times / quickest
