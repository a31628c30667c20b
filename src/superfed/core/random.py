"""Randomness as an input: every draw is keyed by (seed, round, client, purpose), never by what was drawn before.

So a run gives the same numbers whatever the number of lanes or workers, the order of clients, after a resume, and on
another runtime.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

import numpy as np
import torch

NOBODY = -1
"""The client of draws that belong to the server, and the round of draws that belong to no round."""


def key(seed: int, purpose: str, *, round: int = NOBODY, client: int = NOBODY) -> int:
    """A 128-bit key. Different arguments give unrelated keys."""
    message = struct.pack("<qqq", seed, round, client) + purpose.encode()
    return int.from_bytes(blake2b(message, digest_size=16).digest(), "little")


def stream(seed: int, purpose: str, *, round: int = NOBODY, client: int = NOBODY) -> np.random.Generator:
    """A fresh generator for one purpose; two calls with the same arguments draw the same numbers."""
    return np.random.Generator(np.random.Philox(key=key(seed, purpose, round=round, client=client)))


@contextmanager
def torch_seeded(key: int, device: torch.device | None = None) -> Iterator[None]:
    """Let torch's own generators draw by ``key`` inside the block, and be as they were after it.

    For what draws by itself: initialisation, dropout. Generators of devices that are not named stay untouched.
    """
    on_gpu = device is not None and device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if on_gpu else []):
        torch.default_generator.manual_seed(key % 2**63)
        if on_gpu:
            torch.cuda.manual_seed(key % 2**63)
        yield
