"""The methods, one file each. To add one: write its file, and name it here."""

from superfed.algorithms.apfl import APFL
from superfed.algorithms.ditto import Ditto
from superfed.algorithms.fedavg import FedAvg
from superfed.algorithms.fedavg_ft import FedAvgFT
from superfed.algorithms.fedper import FedPer
from superfed.algorithms.fedprox import FedProx
from superfed.algorithms.fedrep import FedRep
from superfed.algorithms.fused import register_all
from superfed.algorithms.l2gd import L2GD
from superfed.algorithms.lg_fedavg import LGFedAvg
from superfed.algorithms.local import Local
from superfed.algorithms.mapper import Mapper
from superfed.algorithms.pfedme import PFedMe
from superfed.algorithms.scaffold import Scaffold
from superfed.algorithms.superfed import SuPerFed
from superfed.core.algorithm import Algorithm

ALGORITHMS: dict[str, type[Algorithm]] = {
    "local": Local,
    "fedavg": FedAvg,
    "fedavg_ft": FedAvgFT,
    "fedprox": FedProx,
    "scaffold": Scaffold,
    "lg_fedavg": LGFedAvg,
    "fedper": FedPer,
    "fedrep": FedRep,
    "apfl": APFL,
    "pfedme": PFedMe,
    "ditto": Ditto,
    "l2gd": L2GD,
    "mapper": Mapper,
    "superfed": SuPerFed,
}

register_all()

__all__ = [
    "ALGORITHMS",
    "APFL",
    "L2GD",
    "Ditto",
    "FedAvg",
    "FedAvgFT",
    "FedPer",
    "FedProx",
    "FedRep",
    "LGFedAvg",
    "Local",
    "Mapper",
    "PFedMe",
    "Scaffold",
    "SuPerFed",
]
