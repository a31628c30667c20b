"""A tiny ragged federation in float64, and the methods as tests run them."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

from superfed.algorithms import (
    ALGORITHMS,
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
from superfed.core.algorithm import Algorithm
from superfed.core.vector import VectorModel
from superfed.data.own import ClientArrays, OwnData
from superfed.engine.executors import Executor, OneAtATime
from superfed.engine.simulation import Run, advance
from superfed.engine.task import Schedule, Task
from superfed.engine.workers import ForkImpossible, Workers

CPU = torch.device("cpu")
RAGGED = (1, 3, 10, 23, 7, 12)
"""Training-set sizes around a batch size of 5: one sample, fewer than a batch, whole batches, a short last batch."""

METHODS: dict[str, Algorithm] = {
    "local": Local(),
    "fedavg": FedAvg(),
    "fedavg_ft": FedAvgFT(epochs=2),
    "fedprox": FedProx(mu=0.3),
    "scaffold": Scaffold(server_lr=0.8),
    "scaffold-option-I": Scaffold(option="I", weighting="uniform"),
    "lg_fedavg": LGFedAvg(),
    "fedper": FedPer(),
    "fedrep": FedRep(body_epochs=2),
    "apfl": APFL(alpha=0.4),
    "apfl-adaptive": APFL(alpha=0.6, adaptive=True),
    "pfedme": PFedMe(lam=2.0, inner_steps=3, inner_lr=0.05, beta=0.7),
    "ditto": Ditto(lam=0.5, personal_epochs=1),
    "l2gd": L2GD(p=0.5, lam=3.0),
    "mapper": Mapper(global_epochs=1),
    "superfed": SuPerFed(mu=0.1, nu=0.7, start=0.4),
    "superfed-layer": SuPerFed(mu=0.1, nu=0.7, start=1, mixing="layer"),
}
"""Every method of the registry with settings under which all of its terms count, by a name that starts with its own."""

assert {name.partition("-")[0] for name in METHODS} == set(ALGORITHMS), "a method has no case here"


def toy_data(sizes: Sequence[int] = RAGGED, *, features: int = 6, num_classes: int = 3, seed: int = 0) -> OwnData:
    """Gaussian samples in float64, with four validation and four test samples for each client."""
    rng = np.random.default_rng(seed)

    def draw(count: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.integers(0, num_classes, count)
        return rng.normal(size=(count, features)) + y[:, None], y

    return OwnData.from_clients(
        [ClientArrays(train=draw(n), validation=draw(4), test=draw(4)) for n in sizes], num_classes=num_classes
    )


def toy_network() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3)).double()


@cache
def toy_model() -> VectorModel:
    """One object for all, so that runs can share a stack."""
    return VectorModel(toy_network)


def toy_task(algorithm: Algorithm, *, seed: int = 3, data: OwnData | None = None, **schedule: float) -> Task:
    settings: dict[str, float] = {
        "rounds": 4,
        "clients_per_round": 3,
        "local_epochs": 2,
        "batch_size": 5,
        "lr": 0.1,
        "lr_decay": 0.9,
        "weight_decay": 0.01,
    }
    return Task(
        algorithm,
        toy_model(),
        data or toy_data(),
        Schedule(**(settings | schedule)),  # type: ignore[arg-type]
        seed,
    )


def train(tasks: Sequence[Task], executor: Executor | None = None, rounds: int | None = None) -> list[Run]:
    """The tasks' runs, together, to their end or for so many rounds."""
    runs = [Run(task) for task in tasks]
    go_on(runs, executor, rounds)
    return runs


def go_on(runs: Sequence[Run], executor: Executor | None = None, rounds: int | None = None) -> None:
    done = 0
    while not all(run.finished for run in runs) and done != rounds:
        for _ in advance(runs, executor or OneAtATime(CPU)):
            pass
        done += 1


def weights(run: Run) -> dict[str, torch.Tensor]:
    """Everything a run has learnt, by name: the server's state and what each client keeps."""
    learnt = {f"server/{name}": t.cpu() for name, t in run.server.items()}
    for client in range(run.task.data.num_clients):
        for name, t in (run.states.get(client) or {}).items():
            learnt[f"{client}/{name}"] = t.cpu()
    return learnt


def assert_same(first: Run, second: Run, tolerance: float = 0.0) -> None:
    """Both runs have learnt the same things, to ``tolerance``; at 0, bit for bit."""
    one, other = weights(first), weights(second)
    assert one.keys() == other.keys()
    for name, value in one.items():
        if tolerance == 0:
            assert torch.equal(value, other[name]), name
        else:
            torch.testing.assert_close(value, other[name], rtol=0, atol=tolerance, msg=name)


def difference(first: Run, second: Run) -> float:
    """The largest difference between what two runs have learnt."""
    one, other = weights(first), weights(second)
    return max(float((value - other[name]).abs().max()) for name, value in one.items())


def workers(tasks: Sequence[Task], count: int) -> Workers:
    """A pool, where this process can have one: not after it has used autograd on a machine with CUDA."""
    try:
        return Workers(tasks, count)
    except ForkImpossible:
        pytest.skip("workers cannot be forked from a process that has used autograd together with CUDA")
