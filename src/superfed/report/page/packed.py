"""Arrays of numbers inside JSON: base64 of their bytes, in the smallest type that holds them, for ``packed.js`` to read."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

Packed = dict[str, str]

_WHOLE = ("u1", "u2", "u4")


def whole(values: NDArray[Any]) -> Packed:
    """Numbers from 0 up, exact."""
    largest = int(values.max()) if values.size else 0
    kind = next(kind for kind in _WHOLE if largest <= np.iinfo(f"<{kind}").max)
    return _packed(values, kind)


def decimals(values: NDArray[Any]) -> Packed:
    """Any numbers, to seven digits; NaN where there is none."""
    return _packed(values, "f4")


def _packed(values: NDArray[Any], kind: str) -> Packed:
    return {"type": kind, "bytes": base64.b64encode(np.ascontiguousarray(values, f"<{kind}").tobytes()).decode()}
