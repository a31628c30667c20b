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
from superfed.engine.batched import batched_update, group_key
from superfed.engine.evaluate import ClientScores, evaluate_client
from superfed.engine.lanes import Lane
from superfed.engine.local import CPU, Update, local_update
from superfed.engine.plan import num_steps
from superfed.engine.task import Task
from superfed.engine.workers import ForkImpossible, Workers


class Executor(Protocol):
    """Results come as they are ready, each with its lane's place in the sequence."""

    device: torch.device

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]: ...

    def evaluate(
        self, lanes: Sequence[Lane], lambdas: Sequence[float], epochs: int
    ) -> Iterator[tuple[int, ClientScores]]:
        """Each lane's client at every λ, after so many epochs of training for itself alone."""
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
        self, lanes: Sequence[Lane], lambdas: Sequence[float], epochs: int
    ) -> Iterator[tuple[int, ClientScores]]:
        for index, lane in enumerate(lanes):
            task, kept, server = self._here(lane)
            with one_thread():
                scores = evaluate_client(task, lane.client, kept, server, lambdas, epochs, self.device)
            yield index, scores

    def _here(self, lane: Lane) -> tuple[Task, State, State]:
        """The lane's task and states, on this device."""
        kept, sent = moved(lane.kept(), self.device), moved(lane.sent, self.device)
        return on_device(lane.task, self.device), kept, sent

    def close(self) -> None:
        pass


class Batched(OneAtATime):
    """Lanes of the same shape together on one device; those that cannot be batched one at a time."""

    def __init__(self, device: torch.device, max_lanes: int = 256) -> None:
        super().__init__(device)
        self.max_lanes = max_lanes

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]:
        groups: dict[tuple[object, ...], list[int]] = {}
        alone = []
        for index, lane in enumerate(lanes):
            if lane.task.model.batchable:
                groups.setdefault(group_key(lane.task), []).append(index)
            else:
                alone.append(index)
        for group in groups.values():
            group.sort(key=lambda i: num_steps(lanes[i].task, lanes[i].client))  # lanes of like length share a stack
            for start in range(0, len(group), self.max_lanes):
                part = group[start : start + self.max_lanes]
                yield from zip(part, batched_update([lanes[i] for i in part], self.device), strict=True)
        for place, update in super().update([lanes[i] for i in alone]):
            yield alone[place], update


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


def check_engine(device: str, workers: int | str) -> None:
    """Refuse what ``make_executor`` would refuse, before anything is begun."""
    _device(device)
    _num_workers(workers)


def make_executor(tasks: Sequence[Task], device: str = "auto", workers: int | str = "auto") -> Executor:
    """The executor for these tasks: batched on CUDA; on the CPU one single-threaded worker per core."""
    where = _device(device)
    if where.type != "cpu":
        return Batched(where)
    count = _num_workers(workers)
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
