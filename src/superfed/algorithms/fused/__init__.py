"""Updates in one pass over the parameters, for one client on a CPU; they need numba."""

from collections.abc import Callable

from superfed.algorithms.apfl import APFL
from superfed.algorithms.ditto import Ditto
from superfed.algorithms.fedavg import FedAvg
from superfed.algorithms.fedper import FedPer
from superfed.algorithms.fedprox import FedProx
from superfed.algorithms.fedrep import FedRep
from superfed.algorithms.fused.kernels import compile_for
from superfed.algorithms.fused.mixtures import FusedAPFL, FusedMapper
from superfed.algorithms.fused.one_model import OneModel, OnePart
from superfed.algorithms.fused.pfedme import FusedPFedMe
from superfed.algorithms.fused.scaffold import fused_scaffold
from superfed.algorithms.fused.superfed import FusedSuPerFed
from superfed.algorithms.l2gd import L2GD
from superfed.algorithms.local import Local
from superfed.algorithms.mapper import Mapper
from superfed.algorithms.pfedme import PFedMe
from superfed.algorithms.scaffold import Scaffold
from superfed.algorithms.superfed import SuPerFed
from superfed.core.flat import FlatNetwork
from superfed.core.fused import Fused, Maker, Steps, register_fused
from superfed.core.state import State


def _of_fedavg(method: FedAvg, phase: str) -> Fused | None:
    if type(method).objective is FedAvg.objective:
        return OneModel()
    if isinstance(method, FedProx) and type(method).objective is FedProx.objective:
        return OneModel(pull=method.mu)  # the gradient of μ/2 ‖w − w_g‖²
    return None


def _of_ditto(method: Ditto, phase: str) -> Fused:
    if phase == "personal":
        return OneModel("v", "velocity_v", pull=method.lam)  # the gradient of λ/2 ‖v − w_g‖²
    return OneModel("w", "velocity_w")


def _of_l2gd(network: FlatNetwork, work: State, sent: State, steps: Steps) -> State:
    return work if steps.round["aggregating"] else OneModel()(network, work, sent, steps)


def register_all() -> None:
    makers: dict[Callable[..., State], Maker] = {
        APFL.step: lambda method, phase: FusedAPFL(method.adaptive),
        Ditto.step: _of_ditto,
        FedAvg.step: _of_fedavg,
        FedPer.step: lambda method, phase: OneModel(),
        FedRep.step: lambda method, phase: OnePart("head" if phase == "head" else "body"),
        L2GD.step: lambda method, phase: _of_l2gd,
        Local.step: lambda method, phase: OneModel(),
        Mapper.step: lambda method, phase: FusedMapper(phase),
        PFedMe.step: lambda method, phase: FusedPFedMe(method),
        Scaffold.step: lambda method, phase: fused_scaffold if phase == "train" else None,
        SuPerFed.step: lambda method, phase: FusedSuPerFed(method),
    }
    for step, maker in makers.items():
        register_fused(step, maker, compile_for)
