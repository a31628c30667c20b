"""Parcels given out as Ray tasks, and given out again when they are lost."""

import itertools
import time
from collections.abc import Sequence
from typing import Any

from superfed.core.errors import UserError
from superfed.core.log import LOG
from superfed.deploy.ray.board import Board
from superfed.deploy.ray.cluster import nodes
from superfed.deploy.ray.following import Following
from superfed.deploy.ray.parcels import Item, Parcel, sent_again
from superfed.deploy.ray.shipping import ship
from superfed.deploy.ray.stores.kinds import Store
from superfed.deploy.ray.work import Ends, Need, compute
from superfed.experiments.failures import concerns_all, reason_of
from superfed.experiments.member import save_failure
from superfed.experiments.orders import Order

LOOK = 0.2
"""Seconds between two looks at the tasks and the board."""
GRACE = 10.0
"""Seconds that tasks have to stop by themselves."""
SETTLING = 2.0
"""Seconds in which Ray finds that a whole machine is gone, once a task of its is."""


class Tasks:
    """Of one job. What they tell goes to ``following``."""

    def __init__(self, orders: Sequence[Order], following: Following, store: Store) -> None:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._ray, self._orders, self._following, self._store = ray, orders, following, store
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._board: Any = ray.remote(Board).options(num_cpus=0, scheduling_strategy=here).remote()
        self._shipped = ship(orders)
        self._under_way: dict[Any, tuple[Parcel, Need]] = {}
        self._kept: dict[int, int] = {}
        self._numbers = itertools.count()

    def run(self, parcels: Sequence[tuple[Parcel, Need]]) -> None:
        """Until every run has ended; whatever stops it stops the tasks."""
        self._numbers = itertools.count(1 + max(parcel.number for parcel, _ in parcels))
        try:
            for parcel, need in parcels:
                self._give(parcel, need)
            while self._under_way:
                done, _ = self._ray.wait(list(self._under_way), timeout=LOOK)
                self._following.hear(self._ray.get(self._board.news.remote()))
                for task in done:
                    self._take_back(task)
            self._following.all_ended()
        finally:
            self._recall()

    def _give(self, parcel: Parcel, need: Need) -> None:
        datasets = dict.fromkeys(self._orders[item.place].config.data.dataset for item in parcel.items)
        shipped = [self._shipped[dataset] for dataset in datasets if dataset in self._shipped]
        self._ray.get(self._board.expect.remote(parcel.number, parcel.attempt))
        self._following.machines.pop(parcel.number, None)
        task = self._ray.remote(compute).options(max_retries=0, **need.resources())
        given = task.remote(parcel, need, self._store, self._board, *shipped)
        self._under_way[given] = parcel, need
        self._kept[parcel.number] = self._kept_of(parcel)

    def _take_back(self, task: Any) -> None:
        parcel, need = self._under_way.pop(task)
        try:
            ends: Ends | None = self._ray.get(task)
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, UserError) or concerns_all(cause):
                raise cause from error
            self._lost(parcel, need, reason_of(cause), str(error))
        except self._ray.exceptions.OutOfMemoryError as error:
            self._lost(parcel, need, "its machine ran out of memory", str(error))
        except self._ray.exceptions.RayError as error:
            self._lost(parcel, need, "its process died, perhaps of too little memory", str(error))
        else:
            if ends is None:
                self._lost(parcel, need, "its machine was cut off", "")
                return
            for place, reason in ends.items():
                self._following.end(place, reason)

    def _lost(self, parcel: Parcel, need: Need, reason: str, words: str) -> None:
        gone = self._machine_is_gone(parcel)
        left = parcel.without(set(self._following.ended))
        if not left.items:
            return
        further = self._kept_of(parcel) > self._kept[parcel.number]
        again = sent_again(left, self._numbers, blameless=gone or further)
        why = "a machine of the cluster is gone" if gone else reason
        many = f"{len(left.items)} runs" if len(left.items) > 1 else left.items[0].title
        if not again:
            self._give_up(left.items[0], f"{reason}, twice at the same place", words)
            return
        LOG.warning("%s: %s; going on from the last checkpoint", many, why)
        for one in again:
            self._give(one, need)

    def _give_up(self, item: Item, reason: str, words: str) -> None:
        self._following.end(item.place, reason)
        folder = self._orders[item.place].folder
        if folder.exists():
            save_failure(folder, reason, words)

    def _machine_is_gone(self, parcel: Parcel) -> bool:
        machine = self._following.machines.get(parcel.number)
        deadline = time.monotonic() + SETTLING
        while machine is not None and time.monotonic() < deadline:
            if all(node.id != machine for node in nodes()):
                return True
            time.sleep(LOOK)
        return False

    def _kept_of(self, parcel: Parcel) -> int:
        return sum(self._following.kept[item.place] for item in parcel.items)

    def _recall(self) -> None:
        """Stop what is under way: by asking, and then by force."""
        if not self._under_way:
            return
        self._ray.get(self._board.recall.remote())
        self._following.hear_where(self._ray.get(self._board.news.remote()))
        for task, (parcel, _) in self._under_way.items():
            if parcel.number not in self._following.machines:  # nobody has taken it up yet
                self._ray.cancel(task)
        _, left = self._ray.wait(list(self._under_way), num_returns=len(self._under_way), timeout=GRACE)
        for task in left:
            self._ray.cancel(task, force=True)
