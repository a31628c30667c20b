"""The machines of a Ray cluster as a place where runs are computed."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from superfed.deploy.ray.cluster import nodes
from superfed.deploy.ray.following import Following
from superfed.deploy.ray.mirror import Mirror
from superfed.deploy.ray.need import Need, room
from superfed.deploy.ray.packing import Load, pack
from superfed.deploy.ray.parcels import Item, Parcel
from superfed.deploy.ray.reached import Reached
from superfed.deploy.ray.stores.kinds import Store
from superfed.deploy.ray.tasks import Tasks
from superfed.engine.batched import group_key
from superfed.engine.plan import num_steps
from superfed.experiments.logged import Logged
from superfed.experiments.member import begin_run, unfinished
from superfed.experiments.observer import Observer
from superfed.experiments.orders import Order
from superfed.experiments.places import Outcome
from superfed.experiments.schema import EngineConfig
from superfed.experiments.tracked import tracked


@contextmanager
def on_ray(address: str, store: Store, gpus_per_task: float | None = None) -> Iterator["OnRay"]:
    """The cluster at ``address``, reached when it is first needed and left when the block ends."""
    with ExitStack() as stack:
        yield OnRay(Reached(address, gpus_per_task, stack), store)


class OnRay:
    """Runs become parcels, and parcels become tasks that Ray gives to machines with room for them."""

    def __init__(self, cluster: Reached, store: Store) -> None:
        self.options, self.in_place = f"{cluster.options}{store.option}", store.in_place
        self._cluster, self._store = cluster, store

    def check(self, engine: EngineConfig) -> None:
        self._reach()
        self._cluster.check(engine)

    def train(self, orders: Sequence[Order], observer: Observer) -> Outcome:
        self._reach()
        for order in orders:
            self._store.mark(order.folder.path)
            self._store.fetch(order.folder.path)
            begin_run(order)
        orders = unfinished(orders)
        if not orders:
            return Outcome()
        mirrors = [Mirror(order) for order in orders]
        with tracked(mirrors, Logged(mirrors, observer)) as told:
            told.started([mirror.title for mirror in mirrors], [mirror.run for mirror in mirrors])
            following = Following(mirrors, told, lambda mirror: self._store.fetch(mirror.folder.path))
            Tasks(orders, following, self._store).run(self._parcels(orders, mirrors))
        failed = {mirrors[place].title: reason for place, reason in following.ended.items() if reason is not None}
        return Outcome(failed)

    def _reach(self) -> None:
        if not self._cluster.is_reached:
            self._store.check()
            self._cluster.reach()

    def _parcels(self, orders: Sequence[Order], mirrors: Sequence[Mirror]) -> list[tuple[Parcel, Need]]:
        """The runs, packed; those that take longest first."""
        numbers, parcels = itertools.count(), []
        by_need: dict[Need, list[int]] = {}
        for place, order in enumerate(orders):
            by_need.setdefault(self._cluster.need(order.config.engine), []).append(place)
        for need, places in by_need.items():
            loads = [_load(orders[place], mirrors[place].run.round) for place in places]
            for group in pack(loads, max(room(nodes(), need), 1), batched=need.gpus > 0):
                items = tuple(Item.of(places[one], orders[places[one]]) for one in group)
                parcels.append((Parcel(next(numbers), items), need))
        return parcels


def _load(order: Order, done: int) -> Load:
    """What is left of a run, counted from the cohorts that it will draw."""
    task = order.task
    steps = sum(num_steps(task, client) for round in range(done, task.schedule.rounds) for client in task.cohort(round))
    cost = task.model.size * task.schedule.batch_size
    return Load(group_key(task), max(steps, 1) * task.algorithm.gradients, task.cohort_size, cost)
