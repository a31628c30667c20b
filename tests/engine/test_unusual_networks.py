"""Networks that draw numbers are computed one lane at a time; those that look at the whole batch are padded rightly."""

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional

from superfed.core.vector import VectorModel
from superfed.engine.executors import Batched
from superfed.engine.task import Task
from support.toys import CPU, METHODS, assert_same, difference, toy_data, toy_task, train, workers


def with_dropout(p: float = 0.5) -> nn.Module:
    return nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Dropout(p), nn.Linear(5, 3)).double()


class CallsDropout(nn.Module):
    """No module says that it draws."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 5).double(), nn.Linear(5, 3).double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = functional.dropout(self.first(x), 0.5, training=self.training)
        scores: torch.Tensor = self.second(hidden)
        return scores


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "dropout": with_dropout,
    "dropout as a function": CallsDropout,
}


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_every_runtime_agrees(network: Callable[[], nn.Module]) -> None:
    base = toy_task(METHODS["superfed"], data=toy_data((10, 12, 7, 13)))
    task = Task(base.algorithm, VectorModel(network), base.data, base.schedule, base.seed)
    task.check()
    assert not task.model.batchable
    (alone,), (batched,) = train([task]), train([task], Batched(CPU))
    assert_same(alone, batched)
    pool = workers([task], 2)
    try:
        (spread,) = train([task], pool)
    finally:
        pool.close()
    assert_same(alone, spread)


class Recurrent(nn.Module):
    """Torch's own LSTM over six steps of one number."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.last = nn.LSTM(1, 4, batch_first=True).double(), nn.Linear(4, 3).double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.last(self.lstm(x[..., None])[0][:, -1])
        return scores


BATCHED: dict[str, Callable[[], nn.Module]] = {
    "batch statistics": lambda: nn.Sequential(
        nn.Linear(6, 5), nn.BatchNorm1d(5, track_running_stats=False), nn.Linear(5, 3)
    ).double(),
    "torch's LSTM": Recurrent,
}


@pytest.mark.filterwarnings("ignore:.* end every epoch with a batch of")
@pytest.mark.parametrize("network", BATCHED.values(), ids=BATCHED)
def test_ragged_batches_come_out_as_they_do_alone(network: Callable[[], nn.Module]) -> None:
    base = toy_task(METHODS["superfed"])
    task = Task(base.algorithm, VectorModel(network), base.data, base.schedule, base.seed)
    task.check()
    assert task.model.batchable
    (alone,), (batched,) = train([task]), train([task], Batched(CPU))
    assert_same(alone, batched, 1e-10)
    assert difference(alone, train([task], rounds=3)[0]) > 1e-6


def test_dropout_really_drops() -> None:
    base = toy_task(METHODS["fedavg"])
    dropping, idle = (
        Task(base.algorithm, VectorModel(lambda p=p: with_dropout(p)), base.data, base.schedule, base.seed)  # type: ignore[misc]
        for p in (0.5, 0.0)
    )
    assert difference(train([dropping])[0], train([idle])[0]) > 1e-3
