"""The methods, one file each. To add one: write its file, and name it here."""

from superfed.algorithms.fedavg import FedAvg
from superfed.algorithms.fedprox import FedProx
from superfed.algorithms.superfed import SuPerFed
from superfed.core.algorithm import Algorithm

ALGORITHMS: dict[str, type[Algorithm]] = {
    "fedavg": FedAvg,
    "fedprox": FedProx,
    "superfed": SuPerFed,
}

__all__ = ["ALGORITHMS", "FedAvg", "FedProx", "SuPerFed"]
