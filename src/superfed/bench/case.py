"""One case of the benchmark: the same local updates for the engine and for the plain loop.

Both sides start from the same weights and see the same batches and draws, so that they compute the same thing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn

from superfed.bench.networks import Network
from superfed.bench.plain.job import Job, Parts
from superfed.bench.plain.modules import ordinary
from superfed.bench.samples import DISTINCT, RandomClients
from superfed.core.algorithm import Algorithm
from superfed.core.state import State, moved
from superfed.core.vector import VectorModel
from superfed.engine.lanes import Lane
from superfed.engine.plan import num_steps, plan_update
from superfed.engine.precision import Precision
from superfed.engine.task import Schedule, Task, as_inputs

ROUNDS = 1000
"""More than anyone waits for: the work of one is that of another."""


@dataclass(frozen=True)
class Case:
    """A round of some clients that all hold as many samples."""

    network: Network
    task: Task
    sent: State
    kept: Sequence[State]
    """By client; after the last they come again."""
    round: int = 0

    @property
    def num_lanes(self) -> int:
        return self.task.data.num_clients

    @property
    def steps(self) -> int:
        """Of one client's local update."""
        return num_steps(self.task, 0)

    def lanes(self, device: torch.device) -> list[Lane]:
        """What the engine is given in its round; the server's state lies on the device, as in a run."""
        sent = moved(self.sent, device)
        kept = [moved(state, device) for state in self.kept]  # as in a run, where a client has taken part before

        def lane(client: int) -> Lane:
            return Lane(0, self.task, client, self.round, sent, lambda: kept[client % len(kept)])

        return [lane(client) for client in range(self.num_lanes)]

    def jobs(self, count: int, device: torch.device) -> list[Job]:
        """What the plain loop is given for the first so many clients."""
        return [self._job(client, device) for client in range(count)]

    def _kept(self, client: int) -> State:
        return self.kept[client % len(self.kept)]

    def _job(self, client: int, device: torch.device) -> Job:
        samples, model = self.task.data.train(client), self.task.model
        plans = plan_update(self.task, client, self.round)
        network, second = (self._module(device) for _ in range(2))
        (drawn,) = plans[0].noise.values() or (torch.empty(0),)
        return Job(
            networks=(network, second),
            sent=_in_parts(moved(self.sent, device), network),
            kept=_in_parts(moved(self._kept(client), device), network),
            x=as_inputs(samples.x, model).to(device),
            y=samples.y.to(device),
            rows={
                plan.phase.name: [torch.from_numpy(rows[rows >= 0]).to(device) for rows in plan.table] for plan in plans
            },
            lambdas=[row.reshape(-1).tolist() for row in drawn],
            **self.task.sgd_values(self.round),
        )

    def _module(self, device: torch.device) -> nn.Module:
        module = ordinary(self.network.recipe.build(self.network.input_shape, self.network.num_classes))
        return module.to(device, self.task.model.dtype).train()


def make_case(
    algorithm: Algorithm,
    network: Network,
    lanes: int,
    *,
    batches: int,
    epochs: int,
    dtype: torch.dtype = torch.float32,
    precision: Precision = "float32",
) -> Case:
    """So many clients with so many mini-batches each, before their first round."""
    data = RandomClients(network, lanes, batches * network.batch_size)
    schedule = Schedule(ROUNDS, clients_per_round=lanes, local_epochs=epochs, batch_size=network.batch_size)
    task = Task(algorithm, vector_model(network, dtype), data, schedule, precision=precision)
    kept = [task.init_client(client) for client in range(min(lanes, DISTINCT))]
    return Case(network, task, algorithm.broadcast(task.init_server(), task.model), kept)


@cache
def vector_model(network: Network, dtype: torch.dtype) -> VectorModel:
    """One object for all cases of a network: what the engine prepares for it, it prepares once."""
    return VectorModel(network.recipe.builder(network.input_shape, network.num_classes), dtype=dtype)


def _in_parts(state: Mapping[str, Tensor], network: nn.Module) -> dict[str, Parts]:
    """Vectors cut into parameters: of the whole network, its body or its head."""
    wholes = [list(m.parameters()) for m in (network, *network.children())]
    return {name: _cut(vector, wholes) for name, vector in state.items()}


def _cut(vector: Tensor, wholes: Sequence[Sequence[Tensor]]) -> Parts:
    if vector.dim() == 0:
        return [vector]
    like = next(whole for whole in wholes if sum(p.numel() for p in whole) == len(vector))
    pieces = torch.split(vector, [p.numel() for p in like])
    return [piece.view_as(p).clone() for piece, p in zip(pieces, like, strict=True)]
