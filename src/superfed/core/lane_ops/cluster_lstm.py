"""Whole sequences of LSTM cells on chips with clusters of blocks: one kernel each way, in CUDA C++, compiled when needed.

The kernels say how (``cluster_lstm.cu``). torch brings the compiler along and wants CUDA's headers (``CUDA_HOME``); where they
cannot be compiled, others compute the same.
"""

import warnings
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor

from superfed.core.errors import UserError
from superfed.core.lane_ops.lstm import HOPPER
from superfed.core.lane_ops.sequences import Sequences

UNITS = (64, 128, 256)
"""Of a layer: 32 for each block of a cluster, which has two to eight, and whose threads have registers for no more."""
ROWS, OWN, THREADS, COUNTERS = 8, 32, 128, 128


@dataclass(frozen=True)
class Kernels:
    forward: Any
    backward: Any


@cache
def kernels_for(units: int, device: int) -> Kernels | None:
    """The kernels for layers of so many units on a GPU, if they can be had there."""
    compiled = getattr(torch.cuda, "_compile_kernel", None)
    if compiled is None or units not in UNITS or torch.cuda.get_device_capability(device) < HOPPER:
        return None
    here = files("superfed.core.lane_ops")
    source = "\n".join((here / name).read_text() for name in ("cluster_ops.cuh", "cluster_lstm.cu"))
    with torch.cuda.device(device):
        try:
            forward, backward = (
                compiled(source, name, nvcc_options=[f"-DUNITS={units}", "--std=c++17"])
                for name in ("lstm_forward", "lstm_backward")
            )
        except (
            RuntimeError,
            OSError,
            AttributeError,
            TypeError,
        ) as error:  # no compiler, or one that is called otherwise
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            warnings.warn(
                f"LSTM cells in clusters cannot be compiled, and others compute the same: {reason}", stacklevel=2
            )
            return None
    return Kernels(forward, backward)


class ClusterSequences(Sequences):
    """For the recurrent weights ``[lanes, 4 * units, units]``, in bfloat16."""

    def __init__(self, w_hh: Tensor, kernels: Kernels) -> None:
        self.w_hh, self._kernels = w_hh, kernels

    def forward(self, projected: Tensor, outputs: Tensor, gates: Tensor, states: Tensor) -> None:
        lanes, times, rows, units = outputs.shape
        projected, weights = in_fours(projected), in_fours(self.w_hh)
        self._kernels.forward(
            grid=_grid(lanes, rows, units),
            block=(THREADS, 1, 1),
            args=[projected, weights, gates, states, outputs, times, rows, weights.stride(0)],
            shared_mem=COUNTERS + shared_forward(units),
        )

    def backward(self, gradient: Tensor, gates: Tensor, states: Tensor, slopes: Tensor) -> None:
        lanes, times, rows, units = states.shape
        gradient, weights = in_fours(gradient), in_fours(self.w_hh)
        self._kernels.backward(
            grid=_grid(lanes, rows, units),
            block=(THREADS, 1, 1),
            args=[gradient, weights, gates, states, slopes, times, rows, weights.stride(0)],
            shared_mem=COUNTERS + shared_backward(units),
        )


def sequences_of(w_hh: Tensor) -> ClusterSequences:
    """Those of these weights, which must be on a GPU that has them."""
    fits = w_hh.is_cuda and w_hh.dtype == torch.bfloat16
    kernels = kernels_for(w_hh.shape[-1], w_hh.get_device()) if fits else None
    if kernels is None:
        raise UserError(
            f"LSTM cells in clusters need a Hopper chip, CUDA's headers, bfloat16 and so many units: {UNITS}"
        )
    return ClusterSequences(w_hh, kernels)


def in_fours(lanes: Tensor) -> Tensor:
    """Each lane's in one piece, and where 16 bytes can be read at once; lanes may lie apart."""
    size = lanes.element_size()
    fit = lanes[0].is_contiguous() and lanes.data_ptr() % 16 == 0 and lanes.stride(0) * size % 16 == 0
    return lanes if fit else lanes.clone(memory_format=torch.contiguous_format)


def _grid(lanes: int, rows: int, units: int) -> tuple[int, int, int]:
    return units // OWN, -(-rows // ROWS), lanes


def shared_forward(units: int) -> int:
    """Bytes of a block beside its counters, as the kernel counts them: outputs and gates of two times, gates of four."""
    return 2 * units * ROWS * 2 + (2 + 4) * ROWS * (4 * OWN + 8) * 2


def shared_backward(units: int) -> int:
    """What others send for two times, slopes of two, and of four what is fetched ahead."""
    sent, slopes = 2 * units * ROWS * 4, 2 * ROWS * (4 * OWN + 32) * 2
    return sent + slopes + 4 * ROWS * ((4 * OWN + 8) * 2 + (OWN + 8) * 2 + (OWN + 8) * 4)
