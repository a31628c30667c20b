"""One digest for settings and arrays together, so that equal contents have equal fingerprints on every machine."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt


def fingerprint(*values: object) -> str:
    """Sha256 over arrays (type, shape and bytes) and plain settings, each fenced so that none runs into the next."""
    sha = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            _add_array(sha, value)
        else:
            text = json.dumps(_plain(value), sort_keys=True).encode()
            sha.update(b"json %d\n" % len(text) + text)
    return sha.hexdigest()


def _add_array(sha: Any, array: npt.NDArray[Any]) -> None:
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    sha.update(f"array {little.dtype.str} {array.shape}\n".encode())
    sha.update(little.reshape(-1).view(np.uint8))


def _plain(value: object) -> object:
    """2 and 2.0 are the same setting, and a numpy number is a number."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return int(number) if number.is_integer() else number
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    raise TypeError(f"cannot take the fingerprint of a {type(value).__name__}")
