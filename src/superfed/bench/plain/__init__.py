"""Every method's local update as an ordinary PyTorch program has it; each equals the engine's.

Modules, ``torch.optim.SGD`` and autograd over ``parameters()``: nothing clever, and nothing slow on purpose. A method
without a loop here is left out of the benchmark.
"""

import warnings
from collections.abc import Callable
from typing import Any

from superfed.algorithms import (
    APFL,
    L2GD,
    Ditto,
    FedAvg,
    FedAvgFT,
    FedPer,
    FedProx,
    FedRep,
    LGFedAvg,
    Local,
    Mapper,
    PFedMe,
    Scaffold,
    SuPerFed,
)
from superfed.bench.plain.job import Job, Outcome
from superfed.bench.plain.mixtures import apfl, mapper, superfed
from superfed.bench.plain.one_model import fedavg, fedprox, local, scaffold
from superfed.bench.plain.parts import fedper, fedrep, lg_fedavg
from superfed.bench.plain.proximal import ditto, l2gd, pfedme
from superfed.core.algorithm import Algorithm

LOOPS: dict[type[Algorithm], Callable[[Job, Any], Outcome]] = {
    Local: local,
    FedAvg: fedavg,
    FedAvgFT: fedavg,
    FedProx: fedprox,
    Scaffold: scaffold,
    LGFedAvg: lg_fedavg,
    FedPer: fedper,
    FedRep: fedrep,
    APFL: apfl,
    PFedMe: pfedme,
    Ditto: ditto,
    L2GD: l2gd,
    Mapper: mapper,
    SuPerFed: superfed,
}


def plain_update(job: Job, method: Algorithm) -> Outcome:
    """The local update of one client."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "RNN module weights")  # mixed ones lie where they were made
        return LOOPS[type(method)](job, method)
