"""A round costs what its clients cost: nothing is touched, kept or drawn for the others."""

from pathlib import Path

import torch

from superfed.core.samples import Samples
from superfed.core.vector import VectorModel
from superfed.data.dealt import SyntheticFederation
from superfed.data.synthetic import Synthetic
from superfed.engine.clients import DiskStates, MemoryStates
from superfed.engine.simulation import Run
from superfed.engine.task import Schedule, Task
from support.toys import METHODS, go_on


class Watched(SyntheticFederation):
    """Notes whose samples are asked for."""

    asked: set[int]

    def train(self, client: int) -> Samples:
        self.asked.add(client)
        return super().train(client)


def run_of(num_clients: int, states: MemoryStates | DiskStates) -> tuple[Run, Watched]:
    data = Watched(Synthetic(dim=6, num_classes=3, samples_per_client=12), num_clients)
    data.asked = set()
    model = VectorModel(lambda: torch.nn.Linear(6, 3))
    task = Task(METHODS["superfed"], model, data, Schedule(rounds=5, clients_per_round=4, local_epochs=1))
    return Run(task, states=states), data


def test_only_sampled_clients_are_touched_however_many_there_are(tmp_path: Path) -> None:
    for num_clients in (100, 100_000, 10_000_000):
        folder = tmp_path / str(num_clients)
        folder.mkdir()
        run, data = run_of(num_clients, DiskStates(folder))
        go_on([run])
        took_part = {client for record in run.records for client in record.cohort}
        assert data.asked == took_part
        assert len(took_part) <= 5 * 4
        assert len([path for path in folder.rglob("*") if path.is_file()]) == len(took_part)


def test_states_in_memory_are_those_of_clients_that_took_part() -> None:
    states = MemoryStates()
    run, _ = run_of(100_000, states)
    assert not states._states
    go_on([run])
    assert set(states._states) == {client for record in run.records for client in record.cohort}
