"""Parcels given out as Ray tasks, and given out again when they are lost."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from superfed.core.errors import UserError
from superfed.core.log import LOG
from superfed.deploy.ray.board import Board
from superfed.deploy.ray.following import Following
from superfed.deploy.ray.luggage import luggage_of
from superfed.deploy.ray.need import Need
from superfed.deploy.ray.parcels import Item, Parcel, sent_again
from superfed.deploy.ray.shipping import ship
from superfed.deploy.ray.stores.kinds import Store
from superfed.deploy.ray.work import Ends, compute
from superfed.experiments.failures import concerns_all, reason_of
from superfed.experiments.member import save_failure
from superfed.experiments.orders import Order

LOOK = 0.2
"""Seconds between two looks at the tasks and the board."""
GRACE = 10.0
"""Seconds that tasks have to stop by themselves."""
SETTLING = 60.0
"""Seconds in which a machine answers, or is found to be gone: with Ray's own settings that took 16."""


@dataclass(frozen=True)
class Loss:
    """A parcel whose task did not come back, and what is known of it."""

    parcel: Parcel
    need: Need
    reason: str
    words: str
    since: float = field(default_factory=time.monotonic)


class Tasks:
    """Of one job. What they tell goes to ``following``."""

    def __init__(self, orders: Sequence[Order], following: Following, store: Store) -> None:
        import ray

        self._ray, self._orders, self._following, self._store = ray, orders, following, store
        here = _on(ray.get_runtime_context().get_node_id())
        self._board: Any = ray.remote(Board).options(num_cpus=0, scheduling_strategy=here).remote()
        self._compute: Any = ray.remote(compute)
        self._shipped, self._luggage = ship(orders), ray.put(luggage_of(orders))
        self._under_way: dict[Any, tuple[Parcel, Need]] = {}
        self._doubtful: dict[Any, Loss] = {}
        self._kept: dict[int, int] = {}
        self._numbers = itertools.count()

    def run(self, parcels: Sequence[tuple[Parcel, Need]]) -> None:
        """Until every run has ended; whatever stops it stops the tasks."""
        self._numbers = itertools.count(1 + max(parcel.number for parcel, _ in parcels))
        try:
            for parcel, need in parcels:
                self._give(parcel, need)
            while self._under_way or self._doubtful:
                done = self._look()
                self._following.hear(self._ray.get(self._board.news.remote()))
                for task in done:
                    self._take_back(task)
                self._settle()
            self._following.all_ended()
        finally:
            self._recall()
            self._ray.kill(self._board)

    def _look(self) -> list[Any]:
        """The tasks that are done, after a while."""
        if not self._under_way:
            time.sleep(LOOK)
            return []
        done: list[Any] = self._ray.wait(list(self._under_way), timeout=LOOK)[0]
        return done

    def _give(self, parcel: Parcel, need: Need) -> None:
        datasets = dict.fromkeys(self._orders[item.place].config.data.dataset for item in parcel.items)
        shipped = [self._shipped[dataset] for dataset in datasets if dataset in self._shipped]
        self._ray.get(self._board.expect.remote(parcel.number, parcel.attempt))
        self._following.machines.pop(parcel.number, None)
        task = self._compute.options(max_retries=0, **need.resources())
        given = task.remote(parcel, need, self._store, self._board, self._luggage, *shipped)
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
            self._lost(Loss(parcel, need, reason_of(cause), str(error)))
        except self._ray.exceptions.OutOfMemoryError as error:
            self._lost(Loss(parcel, need, "its machine ran out of memory", str(error)))
        except self._ray.exceptions.RayError as error:
            self._lost(Loss(parcel, need, "its process died, perhaps of too little memory", str(error)))
        else:
            if ends is None:
                self._lost(Loss(parcel, need, "its machine was cut off", ""))
                return
            for place, reason in ends.items():
                self._following.end(place, reason)

    def _lost(self, loss: Loss) -> None:
        """Given out again at once, unless it was lost before; then it matters whether a whole machine is gone."""
        if self._came_further(loss.parcel) or loss.parcel.crashes == 0:
            self._send_again(loss, blameless=self._came_further(loss.parcel))
        else:
            self._doubtful[self._ask(loss.parcel)] = loss

    def _ask(self, parcel: Parcel) -> Any:
        """Something that the machine the parcel was on can only answer if it is there."""
        machine = self._following.machines.get(parcel.number)
        task = self._ray.remote(num_cpus=0, max_retries=0)(lambda: True)
        return task.options(scheduling_strategy=None if machine is None else _on(machine)).remote()

    def _settle(self) -> None:
        """Judge those that were lost twice, as soon as it is known whether it was their machine."""
        for asked, loss in list(self._doubtful.items()):
            answered = bool(self._ray.wait([asked], timeout=0)[0])
            if not answered and time.monotonic() - loss.since < SETTLING:
                continue
            del self._doubtful[asked]
            try:
                self._ray.get(asked, timeout=0)
                gone = False
            except self._ray.exceptions.RayError:  # gone, or as good as gone
                gone = True
            self._send_again(loss, blameless=gone)

    def _send_again(self, loss: Loss, *, blameless: bool) -> None:
        left = loss.parcel.without(set(self._following.ended))
        if not left.items:
            return
        again = sent_again(left, self._numbers, blameless=blameless)
        if not again:
            self._give_up(left.items[0], f"{loss.reason}, time and again at the same place", loss.words)
            return
        many = f"{len(left.items)} runs" if len(left.items) > 1 else left.items[0].title
        LOG.warning("%s: %s; going on from the last checkpoint", many, loss.reason)
        for parcel in again:
            self._give(parcel, loss.need)

    def _give_up(self, item: Item, reason: str, words: str) -> None:
        self._following.end(item.place, reason)
        folder = self._orders[item.place].folder
        if folder.exists():
            save_failure(folder, reason, words)

    def _came_further(self, parcel: Parcel) -> bool:
        """Since it was given out."""
        return self._kept_of(parcel) > self._kept[parcel.number]

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


def _on(machine: str) -> Any:
    """That machine, or none."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(machine, soft=False)
