"""Where lanes are computed: in this process, on worker processes, or batched on one device. All give the same numbers."""

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

import torch

from superfed.core.errors import SettingError
from superfed.core.state import State, moved
from superfed.engine.adapt import adapting_lane, own_server
from superfed.engine.batched import MOST_LANES, Compile, Stacks
from superfed.engine.evaluate import ClientScores, evaluate_client
from superfed.engine.evaluate_lanes import Standing, evaluate_together
from superfed.engine.lanes import Lane
from superfed.engine.local import CPU, Update, local_update
from superfed.engine.precision import check_precision
from superfed.engine.program import Tell
from superfed.engine.task import Task
from superfed.engine.workers import ForkImpossible, Workers

AT_A_TIME = 256
"""Clients whose states are read at a time for an evaluation."""


class Executor(Protocol):
    """Results come as they are ready, each with its lane's place in the sequence."""

    device: torch.device

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]: ...

    def evaluate(
        self, lanes: Sequence[Lane], lambdas: Sequence[float], epochs: int, brief: bool = False
    ) -> Iterator[tuple[int, ClientScores]]:
        """Each lane's client at every λ, after so many epochs of training for itself alone; or a brief look."""
        ...

    def notes(self) -> dict[str, float]:
        """What is to be known of how it was computed, until now."""
        ...

    def close(self) -> None: ...


class OneAtATime:
    """Lanes one after another in this process, on one thread where they run on the CPU."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]:
        for index, lane in enumerate(lanes):
            task, kept, sent = self._here(lane)
            with one_thread():
                update = local_update(task, lane.client, lane.round, kept, sent, self.device)
            yield index, Update(moved(update.kept, CPU), update.upload)

    def evaluate(
        self, lanes: Sequence[Lane], lambdas: Sequence[float], epochs: int, brief: bool = False
    ) -> Iterator[tuple[int, ClientScores]]:
        for index, lane in enumerate(lanes):
            task, kept, server = self._here(lane)
            with one_thread():
                scores = evaluate_client(task, lane.client, kept, server, lambdas, epochs, self.device, brief)
            yield index, scores

    def _here(self, lane: Lane) -> tuple[Task, State, State]:
        """The lane's task and states, on this device."""
        kept, sent = moved(lane.kept(), self.device), moved(lane.sent, self.device)
        return on_device(lane.task, self.device), kept, sent

    def notes(self) -> dict[str, float]:
        return {}

    def close(self) -> None:
        pass


class Batched(OneAtATime):
    """Lanes of the same shape together on one device; those that cannot be batched one at a time.

    ``memory`` is in GiB: how much of the device's may be used; without it, most of what is free.
    """

    def __init__(
        self,
        device: torch.device,
        max_lanes: int = MOST_LANES,
        compile: Compile = "auto",
        memory: float | None = None,
        tell: Tell | None = None,
        tasks: Sequence[Task] = (),
    ) -> None:
        super().__init__(device)
        self.budget = memory_budget(device, memory)
        self.stacks = Stacks(device, self.budget, compile, max_lanes, tell, tasks)

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]:
        together = [place for place, lane in enumerate(lanes) if lane.task.model.batchable]
        alone = [place for place, lane in enumerate(lanes) if not lane.task.model.batchable]
        for places, updates in (
            (together, self.stacks.update([lanes[i] for i in together])),
            (alone, super().update([lanes[i] for i in alone])),
        ):
            for place, update in updates:
                yield places[place], self._at_home(update)

    def evaluate(
        self, lanes: Sequence[Lane], lambdas: Sequence[float], epochs: int, brief: bool = False
    ) -> Iterator[tuple[int, ClientScores]]:
        together = [place for place, lane in enumerate(lanes) if lane.task.model.batchable]
        alone = [place for place, lane in enumerate(lanes) if not lane.task.model.batchable]
        for start in range(0, len(together), AT_A_TIME):
            places = together[start : start + AT_A_TIME]
            standings = self._standings([lanes[i] for i in places], epochs)
            for place, scores in evaluate_together(standings, lambdas, self.device, self.budget, brief):
                yield places[place], scores
        for place, scores in super().evaluate([lanes[i] for i in alone], lambdas, epochs, brief):
            yield alone[place], scores

    def notes(self) -> dict[str, float]:
        return {"utilisation": self.stacks.use.share, "compile_seconds": self.stacks.programs.seconds}

    def _standings(self, lanes: Sequence[Lane], epochs: int) -> list[Standing]:
        if epochs == 0:
            return [
                Standing(lane.task, lane.client, lane.kept(), lane.task.algorithm.broadcast(lane.sent, lane.task.model))
                for lane in lanes
            ]
        adapting = [adapting_lane(lane, epochs) for lane in lanes]
        updates = dict(self.stacks.update(adapting))
        servers = [own_server(lane.task, lane.client, lane.sent, updates[i]) for i, lane in enumerate(lanes)]
        return [
            Standing(lane.task, lane.client, updates[i].kept, lane.task.algorithm.broadcast(server, lane.task.model))
            for i, (lane, server) in enumerate(zip(lanes, servers, strict=True))
        ]

    def _at_home(self, update: Update) -> Update:
        """What clients keep stays on the device, as long as it leaves room for the rest."""
        if self.device.type == "cuda" and torch.cuda.memory_allocated(self.device) > self.budget // 2:
            return Update(moved(update.kept, CPU), update.upload)
        return update


def on_device(task: Task, device: torch.device) -> Task:
    """The task with its model's view on ``device``."""
    if device.type == "cpu":
        return task
    return replace(task, model=task.model.to(device))


@contextmanager
def one_thread() -> Iterator[None]:
    """These steps are too small for several threads; and one thread is what makes sums come out the same everywhere."""
    threads = torch.get_num_threads()
    if threads != 1:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if threads != 1:
            torch.set_num_threads(threads)


def memory_budget(device: torch.device, wanted: float | None) -> int:
    """In bytes: what was asked for, in GiB, or four fifths of what is free."""
    if wanted is not None:
        return int(wanted * 2**30)
    if device.type != "cuda":
        return 2**33
    free, _ = torch.cuda.mem_get_info(device)
    return free * 4 // 5


def check_engine(device: str, workers: int | str, precision: str = "float32") -> None:
    """Refuse what ``make_executor`` would refuse, before anything is begun."""
    check_precision(precision, _device(device))
    _num_workers(workers)


def make_executor(
    tasks: Sequence[Task],
    device: str = "auto",
    workers: int | str = "auto",
    *,
    compile: Compile = "auto",
    memory: float | None = None,
    tell: Tell | None = None,
) -> Executor:
    """The executor for these tasks: batched on CUDA; on the CPU one single-threaded worker per core.

    On CUDA programs may be compiled, of which ``tell`` hears; ``memory``, in GiB, is how much of the device's may be used.
    """
    where, count = _device(device), _num_workers(workers)
    for task in tasks:
        check_precision(task.precision, where)
    if where.type != "cpu":
        return Batched(where, compile=compile, memory=memory, tell=tell, tasks=tasks)
    most_lanes = sum(task.cohort_size for task in tasks)
    count = min(count, most_lanes)
    if count <= 1:
        return OneAtATime(where)
    try:
        return Workers(tasks, count)
    except ForkImpossible:
        warnings.warn(
            "this process has used autograd together with CUDA, so no workers can be forked from it: "
            "clients are computed one after another; use device='cuda', or start from a fresh process",
            stacklevel=2,
        )
        return OneAtATime(where)


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise SettingError("device", f"must be auto, cpu, cuda or cuda:N, not {name!r}") from None
    if device.type not in ("cpu", "cuda"):
        raise SettingError("device", f"must be auto, cpu, cuda or cuda:N, not {name!r}")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SettingError("device", "cuda was asked for, and torch sees no CUDA device here; use device=cpu")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise SettingError("device", f"{name} was asked for, and there are {torch.cuda.device_count()} CUDA devices")
    return device


def _num_workers(workers: int | str) -> int:
    if isinstance(workers, int):
        if workers < 1:
            raise SettingError("workers", f"must be 1 or more, or auto, not {workers}")
        if workers > 1 and not sys.platform.startswith("linux"):
            raise SettingError("workers", "more than one needs Linux; use workers=1")
        return workers
    if workers != "auto":
        raise SettingError("workers", f"must be a whole number or auto, not {workers!r}")
    return len(os.sched_getaffinity(0)) if sys.platform.startswith("linux") else 1
