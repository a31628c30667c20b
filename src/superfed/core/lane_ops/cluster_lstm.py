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

UNITS = (32, 64, 128, 256)
"""Of a layer: 32 for each block of a cluster, which has up to eight, and whose threads have registers for no more."""
ROWS = (8, 16)
"""Of a batch, that a cluster may have."""
AT_ONCE = 32
"""Clusters that an H200 computes at the same time."""
OWN, THREADS, COUNTERS = 32, 128, 128
FREE = 48 * 2**10
"""Bytes of shared memory that a block has without asking."""


@dataclass(frozen=True)
class Kernels:
    """For clusters of so many rows."""

    rows: int
    forward: Any
    backward: Any


@cache
def kernels_for(units: int, rows: int, device: int) -> Kernels | None:
    """The kernels for layers of so many units on a GPU, if they can be had there."""
    compiled = getattr(torch.cuda, "_compile_kernel", None)
    if compiled is None or units not in UNITS or torch.cuda.get_device_capability(device) < HOPPER:
        return None
    here = files("superfed.core.lane_ops")
    source = "\n".join((here / name).read_text() for name in ("cluster_ops.cuh", "cluster_lstm.cu"))
    with torch.cuda.device(device):
        try:
            forward, backward = (
                compiled(source, name, nvcc_options=[f"-DUNITS={units}", f"-DROWS={rows}", "--std=c++17"])
                for name in ("lstm_forward", "lstm_backward")
            )
            for kernel, needed in ((forward, shared_forward(units, rows)), (backward, shared_backward(units, rows))):
                if COUNTERS + needed > FREE:
                    kernel.set_shared_memory_config(COUNTERS + needed)
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
    return Kernels(rows, forward, backward)


class ClusterSequences(Sequences):
    """For the recurrent weights ``[lanes, 4 * units, units]``, in bfloat16."""

    def __init__(self, w_hh: Tensor) -> None:
        self.w_hh = w_hh

    def forward(self, projected: Tensor, outputs: Tensor, gates: Tensor, states: Tensor) -> None:
        lanes, times, rows, units = outputs.shape
        kernels = self._kernels(rows)
        kernels.forward(
            grid=_grid(lanes, rows, units, kernels.rows),
            block=(THREADS, 1, 1),
            args=[projected, _in_fours(self.w_hh), gates, states, outputs, times, rows],
            shared_mem=COUNTERS + shared_forward(units, kernels.rows),
        )

    def backward(self, gradient: Tensor, gates: Tensor, states: Tensor, slopes: Tensor) -> None:
        lanes, times, rows, units = states.shape
        kernels = self._kernels(rows)
        kernels.backward(
            grid=_grid(lanes, rows, units, kernels.rows),
            block=(THREADS, 1, 1),
            args=[gradient, self.w_hh.mT.contiguous(), gates, states, slopes, times, rows],
            shared_mem=COUNTERS + shared_backward(units, kernels.rows),
        )

    def _kernels(self, rows: int) -> Kernels:
        lanes, units = len(self.w_hh), self.w_hh.shape[-1]
        kernels = kernels_for(units, rows_of_a_cluster(lanes, rows), self.w_hh.get_device())
        assert kernels is not None
        return kernels


def rows_of_a_cluster(lanes: int, rows: int) -> int:
    """As few as can be, so that each step is short, unless clusters would have to wait for others."""
    return ROWS[0] if lanes * -(-rows // ROWS[0]) <= AT_ONCE else ROWS[1]


def can_compute(w_hh: Tensor) -> bool:
    """Whether these weights are for such kernels, and there are such."""
    if not w_hh.is_cuda or w_hh.dtype != torch.bfloat16:
        return False
    return all(kernels_for(w_hh.shape[-1], rows, w_hh.get_device()) is not None for rows in ROWS)


def sequences_of(w_hh: Tensor) -> ClusterSequences:
    """Those of these weights, which must be on a GPU that has them."""
    if not can_compute(w_hh):
        raise UserError(
            f"LSTM cells in clusters need a Hopper chip, CUDA's headers, bfloat16 and so many units: {UNITS}"
        )
    return ClusterSequences(w_hh)


def _in_fours(weights: Tensor) -> Tensor:
    """In one piece, and where 16 bytes can be read at once."""
    together = weights.contiguous()
    return together if together.data_ptr() % 16 == 0 else together.clone()


def _grid(lanes: int, rows: int, units: int, of_a_cluster: int) -> tuple[int, int, int]:
    return units // OWN, -(-rows // of_a_cluster), lanes


def shared_forward(units: int, rows: int) -> int:
    """Bytes of a block beside its counters, as the kernel counts them: outputs and gates of two times, gates of four."""
    return 2 * units * rows * 2 + (2 + 4) * rows * (4 * OWN + 8) * 2


def shared_backward(units: int, rows: int) -> int:
    """What others send for two times, slopes of two, and of four what is fetched ahead."""
    sent, slopes = 2 * (units // OWN) * rows * OWN * 4, 2 * rows * (4 * OWN + 32) * 2
    return sent + slopes + 4 * rows * ((4 * OWN + 8) * 2 + (OWN + 8) * 2 + (OWN + 8) * 4)
