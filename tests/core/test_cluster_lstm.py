"""Whole sequences of LSTM cells in one kernel: what its threads do, emulated here; and the kernel itself on a GPU."""

import shutil
import subprocess
from ctypes import CDLL, c_bool, c_int, c_void_p
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from superfed.core.errors import UserError
from superfed.core.lane_ops import cluster_lstm, lstm
from superfed.core.lane_ops.sequences import Sequences
from support.lstm_errors import largest, relative_errors

COMPILER = shutil.which("g++")
SUPPORT = Path(__file__).parent.parent / "support"
NEAR = 1e-2

with_compiler = pytest.mark.skipif(COMPILER is None, reason="no g++ here to compile the emulation")
on_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")


class Emulated(Sequences):
    """The kernels' source, compiled for this machine."""

    def __init__(self, w_hh: Tensor, program: CDLL) -> None:
        self.w_hh, self._program = w_hh, program

    def forward(self, projected: Tensor, outputs: Tensor, gates: Tensor, states: Tensor) -> None:
        self._call(self._program.forward, projected, self.w_hh, gates, states, outputs)

    def backward(self, gradient: Tensor, gates: Tensor, states: Tensor, slopes: Tensor) -> None:
        self._call(self._program.backward, gradient, self.w_hh, gates, states, slopes)

    def _call(self, function: Any, *tensors: Tensor) -> None:
        sizes = (*tensors[0].shape[:3], self.w_hh.stride(0))
        function.restype = c_bool
        sound = function(*(c_void_p(t.data_ptr()) for t in tensors), *(c_int(size) for size in sizes))
        assert sound, "something came that nobody waits for, or was fetched from beside a tensor"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("emulated")


def compiled(units: int, folder: Path) -> CDLL:
    program = folder / f"cells{units}.so"
    if not program.exists():
        source, kernels = SUPPORT / "cluster_emulated.cpp", str(files("superfed.core.lane_ops"))
        options = ("-std=c++20", "-O1", "-pthread", "-shared", "-fPIC", f"-DUNITS={units}")
        subprocess.run([str(COMPILER), *options, f"-I{kernels}", str(source), "-o", str(program)], check=True)
    return CDLL(str(program))


@with_compiler
@pytest.mark.parametrize(
    "sizes", [(1, 1, 1, 64), (2, 7, 5, 64), (1, 6, 16, 64), (2, 3, 21, 64), (1, 5, 9, 128), (1, 3, 2, 256)]
)
def test_what_the_threads_of_a_cluster_do(sizes: tuple[int, int, int, int], folder: Path) -> None:
    program = compiled(sizes[-1], folder)
    assert largest(relative_errors(lambda w_hh: Emulated(w_hh, program), sizes, torch.bfloat16, "cpu")) < NEAR


@with_compiler
@pytest.mark.parametrize("units", [64, 256])
def test_a_block_is_given_the_memory_that_it_uses(units: int, folder: Path) -> None:
    program = compiled(units, folder)
    given = cluster_lstm.shared_forward(units), cluster_lstm.shared_backward(units)
    assert given == (program.shared_forward(), program.shared_backward())


def test_what_lies_askew_is_copied_and_lanes_may_lie_apart() -> None:
    numbers = torch.arange(2 * 64, dtype=torch.bfloat16)
    fit, askew, odd = (numbers[at:].as_strided((2, 4, 8), (step, 8, 1)) for at, step in ((0, 64), (4, 64), (0, 55)))
    assert cluster_lstm.in_fours(fit).data_ptr() == fit.data_ptr()
    for given in (askew, odd, fit.mT):
        copied = cluster_lstm.in_fours(given)
        assert torch.equal(copied, given)
        assert copied.is_contiguous()
        assert copied.data_ptr() % 16 == 0


@pytest.fixture
def clusters() -> None:
    if torch.cuda.get_device_capability() < lstm.HOPPER:
        pytest.skip("clusters need a Hopper chip")


@on_cuda
@pytest.mark.usefixtures("clusters")
@pytest.mark.parametrize(
    "sizes",
    [
        (1, 80, 50, 256),
        (5, 80, 50, 256),
        (3, 5, 10, 64),
        (2, 4, 130, 64),
        (2, 9, 1, 128),
        (1, 1, 3, 64),
        (2, 2, 9, 256),
    ],
)
def test_on_cuda(sizes: tuple[int, int, int, int]) -> None:
    assert largest(relative_errors(cluster_lstm.sequences_of, sizes, torch.bfloat16, "cuda")) < NEAR


@on_cuda
@pytest.mark.usefixtures("clusters")
def test_layers_that_fit_are_computed_so() -> None:
    def chosen(lanes: int, units: int) -> bool:
        weights = torch.zeros(lanes, 4 * units, units, dtype=torch.bfloat16, device="cuda")
        return isinstance(lstm.steps_for(weights), cluster_lstm.ClusterSequences)

    assert (chosen(1, 256), chosen(50, 256), chosen(1, 384)) == (True, True, False)


@on_cuda
@pytest.mark.usefixtures("clusters")
def test_again_and_again_it_is_the_same_to_the_last_bit() -> None:
    """Blocks wait for each other, or there would be differences."""
    sequences_of = cluster_lstm.sequences_of

    def random(*shape: int) -> Tensor:
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)

    inputs, w_hh, gradient = random(6, 80, 50, 1024), random(6, 1024, 256) / 16, random(6, 80, 50, 256)

    def there_and_back() -> tuple[Tensor, ...]:
        saved = lstm.forward(inputs, w_hh, sequences_of)
        return *saved, *lstm.backward(gradient, w_hh, *saved, sequences_of)

    first = there_and_back()
    for _ in range(20):
        for one, other in zip(first, there_and_back(), strict=True):
            assert torch.equal(one, other)


def test_who_has_no_such_chip_is_told() -> None:
    with pytest.raises(UserError, match="need a Hopper chip"):
        cluster_lstm.sequences_of(torch.zeros(1, 4 * 64, 64, dtype=torch.bfloat16))
