"""States on their way between machines: as plain arrays, which Ray does not copy when they are opened."""

import warnings
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor

from superfed.core.state import State

Arrays = dict[str, npt.NDArray[Any]]
ALIGNMENT = 64
"""Bytes. Where vectors begin decides how some sums are cut, and so their last bits; torch's own begin at such places."""


def packed(state: State) -> Arrays:
    return {name: tensor.detach().cpu().contiguous().numpy() for name, tensor in state.items()}


def opened(arrays: Arrays) -> State:
    """The state where it arrived, in memory that nobody may write to."""
    return {name: _aligned(_view(array)) for name, array in arrays.items()}


def owned(arrays: Arrays) -> State:
    """The state in memory of its own, which stays when what arrived is gone."""
    return {name: _view(array).clone() for name, array in arrays.items()}


def _view(array: npt.NDArray[Any]) -> Tensor:
    with warnings.catch_warnings():  # torch's, that it must not be written to; it is not
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)


def _aligned(tensor: Tensor) -> Tensor:
    return tensor if tensor.data_ptr() % ALIGNMENT == 0 else tensor.clone()
