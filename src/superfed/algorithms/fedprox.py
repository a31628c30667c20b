"""FedProx: Li et al., Federated Optimization in Heterogeneous Networks, 2020."""

from dataclasses import dataclass

from torch import Tensor

from superfed.algorithms.fedavg import FedAvg
from superfed.core.algorithm import Context
from superfed.core.batch import Batch
from superfed.core.errors import require
from superfed.core.maths import sq_norm
from superfed.core.state import State


@dataclass(frozen=True)
class FedProx(FedAvg):
    """FedAvg with each client's model held near the global one: F(w) + μ/2 ‖w − w_g‖² (its Eq. 2)."""

    mu: float = 0.01  # μ: how near

    def __post_init__(self) -> None:
        require(self.mu >= 0, "mu", f"must be 0 or more, not {self.mu}")

    def objective(self, w: Tensor, sent: State, batch: Batch, ctx: Context) -> Tensor:
        return ctx.task_loss(w, batch) + self.mu / 2 * sq_norm(w - sent["w"])
