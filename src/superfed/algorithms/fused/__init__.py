"""Updates in one pass over the parameters, for one client on a CPU; they need numba."""

from collections.abc import Callable

from superfed.algorithms.fedavg import FedAvg
from superfed.algorithms.fedper import FedPer
from superfed.algorithms.fedprox import FedProx
from superfed.algorithms.fused.kernels import compile_for
from superfed.algorithms.fused.one_model import OneModel
from superfed.algorithms.fused.superfed import FusedSuPerFed
from superfed.algorithms.local import Local
from superfed.algorithms.superfed import SuPerFed
from superfed.core.fused import Fused, Maker, register_fused
from superfed.core.state import State


def _of_fedavg(method: FedAvg, phase: str) -> Fused | None:
    if type(method).objective is FedAvg.objective:
        return OneModel()
    if isinstance(method, FedProx) and type(method).objective is FedProx.objective:
        return OneModel(pull=method.mu)  # the gradient of μ/2 ‖w − w_g‖²
    return None


def register_all() -> None:
    makers: dict[Callable[..., State], Maker] = {
        FedAvg.step: _of_fedavg,
        FedPer.step: lambda method, phase: OneModel(),
        Local.step: lambda method, phase: OneModel(),
        SuPerFed.step: lambda method, phase: FusedSuPerFed(method),
    }
    for step, maker in makers.items():
        register_fused(step, maker, compile_for)
