"""FedAvg and fine-tuning: the global model, trained a little further by each client before it is used."""

from dataclasses import dataclass

from superfed.algorithms.fedavg import FedAvg
from superfed.core.errors import require


@dataclass(frozen=True)
class FedAvgFT(FedAvg):
    """FedAvg whose global model each client trains for some more epochs on its own data before it is used."""

    epochs: int = 1  # on its own data

    def __post_init__(self) -> None:
        require(self.epochs >= 1, "epochs", f"must be 1 or more, not {self.epochs}")

    @property
    def title(self) -> str:
        return "FedAvg+FT"

    @property
    def adapt_epochs(self) -> int:
        return self.epochs
