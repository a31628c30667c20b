"""This process as the place of runs, with a Ray cluster to compute their lanes."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from superfed.deploy.ray.reached import Reached
from superfed.deploy.ray.spread.executor import Spread
from superfed.experiments.member import Member
from superfed.experiments.observer import Observer
from superfed.experiments.orders import Order
from superfed.experiments.places import Outcome, train_here
from superfed.experiments.schema import EngineConfig


@contextmanager
def spread_on_ray(address: str, gpus_per_task: float | None = None) -> Iterator["OnRaySpread"]:
    """The cluster at ``address``, reached when it is first needed and left when the block ends."""
    with ExitStack() as stack:
        yield OnRaySpread(Reached(address, gpus_per_task, stack))


class OnRaySpread:
    """Runs are kept, aggregated and written here; every round's lanes are divided over the machines."""

    in_place = True

    def __init__(self, cluster: Reached) -> None:
        self.options = f"{cluster.options} --spread"
        self._cluster = cluster

    def check(self, engine: EngineConfig) -> None:
        self._cluster.check(engine)

    def train(self, orders: Sequence[Order], observer: Observer) -> Outcome:
        self._cluster.reach()

        def executor(members: Sequence[Member], told: Observer) -> Spread:
            return Spread(orders, self._cluster.need(orders[0].config.engine))

        return train_here(orders, observer, executor)
