"""A task: some runs taken to their ends on whatever machine Ray chose."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import torch

from superfed.deploy.ray.board import Event
from superfed.deploy.ray.parcels import Parcel
from superfed.deploy.ray.shipping import Shipped, arrived
from superfed.deploy.ray.stores.kinds import Save, Store
from superfed.deploy.ray.telling import Recalled, Telling
from superfed.engine.executors import Executor, OneAtATime, make_executor
from superfed.experiments.assemble import Assembler
from superfed.experiments.member import Member
from superfed.experiments.observer import Observer, Passing
from superfed.experiments.together import Together

Ends = dict[int, str | None]
"""For each run that came to an end, why it failed; None, if it did not."""


@dataclass(frozen=True)
class Need:
    """What a task takes of a machine: one core, or a GPU or some of it."""

    gpus: float = 0.0

    def resources(self) -> dict[str, float]:
        return {"num_cpus": 1, "num_gpus": self.gpus}


def compute(parcel: Parcel, need: Need, store: Store, board: Any, *shipped: Shipped) -> Ends | None:
    """How the runs ended; None if the task was recalled."""
    import ray

    def tell(events: list[Event]) -> bool:
        go_on: bool = ray.get(board.tell.remote(parcel.number, parcel.attempt, events), timeout=10)
        return go_on

    here = ray.get_runtime_context().get_node_id()
    try:
        with Telling([item.place for item in parcel.items], tell) as telling, ExitStack() as stack:
            telling.note("taken", parcel.number, here)
            telling.heed()
            assembler, members, saves = Assembler(None, arrived(shipped)), [], []
            for item in parcel.items:
                folder, save = stack.enter_context(store.taken(item.folder))
                members.append(Member(item.order(folder, assembler)))
                saves.append(save)
            return _train(members, need, Storing(telling, saves), [item.place for item in parcel.items])
    except Recalled:
        return None


class Storing(Passing):
    """An observer that has a run stored whenever it has something to keep, before anyone is told."""

    def __init__(self, observer: Observer, saves: Sequence[Save]) -> None:
        super().__init__(observer)
        self._saves = saves

    def saved(self, run: int) -> None:
        self._saves[run]()
        super().saved(run)

    def run_done(self, run: int) -> None:
        self._saves[run]()
        super().run_done(run)

    def run_failed(self, run: int, reason: str) -> None:
        self._saves[run]()
        super().run_failed(run, reason)


def _train(members: Sequence[Member], need: Need, observer: Observer, places: Sequence[int]) -> Ends:
    observer.started([member.title for member in members], [member.run for member in members])
    with closing(_executor(members, need, observer)) as executor:
        together = Together(members, executor, observer)
        together.train()
    return {place: together.failed.get(member.title) for place, member in zip(places, members, strict=True)}


def _executor(members: Sequence[Member], need: Need, observer: Observer) -> Executor:
    """On a core one lane at a time; a GPU is this task's own, or as much of it as it asked for."""
    if not need.gpus:
        return OneAtATime(torch.device("cpu"))
    engine = members[0].config.engine
    memory = engine.memory
    if memory is None and need.gpus < 1:
        memory = 0.8 * need.gpus * torch.cuda.get_device_properties(0).total_memory / 2**30
    tasks = [member.run.task for member in members]
    return make_executor(tasks, "cuda", compile=engine.compile, memory=memory, tell=observer.compiling)
