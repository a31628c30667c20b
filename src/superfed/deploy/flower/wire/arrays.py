"""States as named arrays in NumPy's own format, and back; nothing that comes in is believed, and nothing is unpickled."""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.lib import format as npy

from superfed.core.state import State
from superfed.deploy.flower.wire.npy import Arrays, Shape, described
from superfed.deploy.flower.wire.refusal import Refusal

Template = Mapping[str, Shape]
"""What a state must be: these names, and of each its shape and type."""


def template_of(state: State) -> Template:
    return {name: Shape(tuple(t.shape), str(t.dtype).removeprefix("torch.")) for name, t in state.items()}


def pack(state: State) -> dict[str, bytes]:
    """The state, to the bit."""
    return {name: _written(tensor.detach().cpu().contiguous().numpy()) for name, tensor in state.items()}


def unpack(arrays: Arrays, template: Template) -> State:
    """The state that ``arrays`` hold, if it is what ``template`` asks for and all its numbers are finite."""
    if missing := sorted(template.keys() - arrays.keys()):
        raise Refusal(f"the array '{missing[0]}' is missing")
    if more := sorted(arrays.keys() - template.keys()):
        raise Refusal(f"it brings an array '{more[0][:40]}' that nobody asked for")
    return {name: _read(name, arrays[name], wanted) for name, wanted in template.items()}


def _written(array: np.ndarray[Any, Any]) -> bytes:
    buffer = io.BytesIO()
    npy.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _read(name: str, data: bytes, wanted: Shape) -> torch.Tensor:
    """Only after its header promised the right thing is anything of that size made."""
    try:
        promised, begin = described(data)
    except Exception as error:  # whatever a crafted header may cause
        raise Refusal(f"the array '{name}' cannot be read ({type(error).__name__})") from None
    if promised.dtype != wanted.dtype:
        raise Refusal(f"the array '{name}' is {promised.dtype[:20]}, and {wanted.dtype} is needed")
    if promised.shape != wanted.shape:
        raise Refusal(f"the array '{name}' has shape {promised.shape[:8]}, and {wanted.shape} is needed")
    dtype = np.dtype(wanted.dtype)
    if len(data) - begin != int(np.prod(wanted.shape, dtype=np.int64)) * dtype.itemsize:
        raise Refusal(f"the array '{name}' is cut short or too long")
    values = torch.from_numpy(np.frombuffer(data, dtype=dtype, offset=begin).reshape(wanted.shape).copy())
    if values.is_floating_point() and not bool(torch.isfinite(values).all()):
        raise Refusal(f"the array '{name}' is not finite")
    return values
