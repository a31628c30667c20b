"""Randomness as an input: every draw is keyed by (seed, round, client, purpose), never by what was drawn before.

So a run gives the same numbers whatever the number of lanes or workers, the order of clients, after a resume, and on
another runtime.
"""

import struct
from hashlib import blake2b

import numpy as np

NOBODY = -1
"""The client of draws that belong to the server, and the round of draws that belong to no round."""


def key(seed: int, purpose: str, *, round: int = NOBODY, client: int = NOBODY) -> int:
    """A 128-bit key. Different arguments give unrelated keys."""
    message = struct.pack("<qqq", seed, round, client) + purpose.encode()
    return int.from_bytes(blake2b(message, digest_size=16).digest(), "little")


def stream(seed: int, purpose: str, *, round: int = NOBODY, client: int = NOBODY) -> np.random.Generator:
    """A fresh generator for one purpose; two calls with the same arguments draw the same numbers."""
    return np.random.Generator(np.random.Philox(key=key(seed, purpose, round=round, client=client)))
