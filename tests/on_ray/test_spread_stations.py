"""Stations without a cluster: those of GPUs take shares of a round, and what a lost one had goes to the others."""

import itertools
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from superfed.core.errors import UserError
from superfed.deploy.ray.cluster import Node
from superfed.deploy.ray.need import Need
from superfed.deploy.ray.spread import crew, losses, station
from superfed.deploy.ray.spread.errands import Call
from superfed.deploy.ray.spread.executor import Spread
from superfed.deploy.ray.spread.station import Station
from superfed.engine.executors import Batched, OneAtATime
from superfed.engine.simulation import Run, advance, evaluate
from superfed.engine.workers import WorkerDied
from superfed.experiments.assemble import Assembler
from superfed.experiments.orders import Order
from superfed.experiments.schema import RunConfig
from superfed.store.layout import RunFolder

SETTINGS: dict[str, Any] = {
    "algorithm": {"name": "superfed", "nu": 1.0, "start": 0.0},
    "data": {"dataset": {"name": "synthetic", "dim": 6, "num_classes": 3, "samples_per_client": 12}, "num_clients": 9},
    "model": {"name": "two_nn", "width": 4},
    "training": {"rounds": 3, "clients_per_round": 7, "local_epochs": 1, "batch_size": 4, "lr": 0.05},
    "engine": {"dtype": "float64"},
}
MACHINES = [Node("one", "", cpus=4, gpus=1), Node("two", "", cpus=4, gpus=1)]


class RayError(Exception): ...


class OutOfMemoryError(RayError): ...


class RayTaskError(RayError): ...


@dataclass(eq=False)
class Reference:
    """What comes out is computed when it is asked for."""

    compute: Callable[[], Any]


class StandIn:
    """For Ray: actors in this process, of which those die that ``dies`` says, when they are given such a call."""

    exceptions = SimpleNamespace(RayError=RayError, OutOfMemoryError=OutOfMemoryError, RayTaskError=RayTaskError)

    def __init__(self) -> None:
        self.calls: list[tuple[int, list[int]]] = []
        """Which station computed which clients."""
        self.dies: Callable[[int, list[int]], bool] = lambda number, clients: False
        self.alive: set[int] = set()
        self._numbers = itertools.count()

    def put(self, value: Any) -> Reference:
        return Reference(lambda: value)

    def remote(self, kind: type[Station]) -> Any:
        return SimpleNamespace(options=lambda **options: SimpleNamespace(remote=lambda: self._actor(kind())))

    def _actor(self, made: Station) -> Any:
        number = next(self._numbers)
        self.alive.add(number)

        def compute(call: Call, places: list[int], *sent: Reference) -> Any:
            clients = [errand.client for errand in call.errands]
            if self.dies(number, clients):
                raise RayError
            self.calls.append((number, clients))
            return made.compute(call, places, *[one.compute() for one in sent])

        def opening(settings: Any, need: Need, luggage: Reference, *shipped: Reference) -> Any:
            return made.open(settings, need, luggage.compute(), *[one.compute() for one in shipped])

        def called(method: Callable[..., Any]) -> Any:
            return SimpleNamespace(remote=lambda *given: Reference(lambda: method(*given)))

        return SimpleNamespace(number=number, open=called(opening), compute=called(compute))

    def wait(self, references: list[Reference], timeout: float) -> tuple[list[Reference], list[Reference]]:
        return references[:1], references[1:]

    def get(self, reference: Reference, timeout: float) -> Any:
        return reference.compute()

    def kill(self, actor: Any) -> None:
        self.alive.discard(actor.number)

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_node_id=lambda: "one")


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    ray = StandIn()
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(crew, "nodes", lambda: MACHINES)
    monkeypatch.setattr(losses, "nodes", lambda: MACHINES)
    monkeypatch.setattr(station, "executor_for", lambda tasks, engine, need: Batched(torch.device("cpu"), tasks=tasks))
    return ray


def order() -> Order:
    config = RunConfig.from_plain(SETTINGS)
    return Order(RunFolder(Path("nowhere")), config, Assembler(None).task(config), "only")


def rounds(run: Run, executor: Spread | OneAtATime) -> Run:
    while not run.finished:
        list(advance([run], executor))
    return run


def clients_of(calls: Iterable[tuple[int, list[int]]]) -> list[int]:
    return sorted(client for _, clients in calls for client in clients)


def check_as_on_one_core(run: Run, order: Order) -> None:
    plain = rounds(Run(order.task), OneAtATime(torch.device("cpu")))
    for name, tensor in plain.server.items():
        torch.testing.assert_close(run.server[name], tensor)
    for client in range(order.task.data.num_clients):
        kept, expected = run.states.get(client), plain.states.get(client)
        assert (kept is None) == (expected is None)
        for name, tensor in (expected or {}).items():
            assert kept is not None
            torch.testing.assert_close(kept[name], tensor)


def test_every_gpu_has_one_share_of_a_round(ray: StandIn) -> None:
    ordered = order()
    spread = Spread([ordered], Need(gpus=1.0))
    run = Run(ordered.task)
    list(advance([run], spread))
    assert [(number, len(clients)) for number, clients in ray.calls] == [(0, 4), (1, 3)]
    assert clients_of(ray.calls) == ordered.task.cohort(0)
    check_as_on_one_core(rounds(run, spread), ordered)
    plain = evaluate([run], [[0, 5]], OneAtATime(torch.device("cpu")), (0.0, 1.0))
    for theirs, ours in zip(evaluate([run], [[0, 5]], spread, (0.0, 1.0))[0], plain[0], strict=True):
        assert theirs.test["top1"] == pytest.approx(ours.test["top1"])
        assert theirs.test["loss"] == pytest.approx(ours.test["loss"])
    assert spread.notes().keys() == {"utilisation", "compile_seconds"}
    spread.close()
    assert not ray.alive


def test_the_share_of_a_lost_station_goes_to_others(ray: StandIn) -> None:
    ordered = order()
    spread = Spread([ordered], Need(gpus=1.0))
    ray.dies = lambda number, clients: number == 0
    run = rounds(Run(ordered.task), spread)
    assert {number for number, _ in ray.calls} == {1, 2}
    assert 0 not in ray.alive
    check_as_on_one_core(run, ordered)


def test_a_lane_that_kills_every_station_is_given_up(ray: StandIn) -> None:
    ordered = order()
    guilty = ordered.task.cohort(0)[3]
    spread = Spread([ordered], Need(gpus=1.0))
    ray.dies = lambda number, clients: guilty in clients
    with pytest.raises(WorkerDied, match="in round 0 took 3 processes with it"):
        list(advance([Run(ordered.task)], spread))
    ray.dies = lambda number, clients: False
    check_as_on_one_core(rounds(Run(ordered.task), spread), ordered)


def test_a_cluster_where_no_station_opens_is_given_up(ray: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(*_: object) -> None:
        raise OutOfMemoryError

    monkeypatch.setattr(crew, "LOOK", 0.01)
    monkeypatch.setattr(station.Station, "open", too_large)
    ordered = order()
    spread = Spread([ordered], Need(gpus=1.0), patience=0.2)
    for _ in range(2):
        with pytest.raises(UserError, match=r"no machine of the cluster .* \(a machine ran out of memory\)"):
            list(advance([Run(ordered.task)], spread))
    spread.close()
    assert not ray.alive
