"""Lanes computed by stations on the machines of a Ray cluster, with the numbers of any other executor.

A lane is computed from what is sent to it alone, so it does not matter which station has it, nor how often: those of a
station that is lost are computed again by another. One at a time on a core, they give the very bits that this machine would
give. On a GPU lanes share a stack, and how many there are may decide the last bits of a product: there the numbers agree to
rounding for any number of GPUs.
"""

import itertools
import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import torch

from superfed.deploy.ray.luggage import luggage_of
from superfed.deploy.ray.need import Need
from superfed.deploy.ray.shipping import ship
from superfed.deploy.ray.spread.crew import PATIENCE, Crew, Reference
from superfed.deploy.ray.spread.division import Division, EvenShares, LongestFirst, Rate
from superfed.deploy.ray.spread.errands import Failure, Look, Lost
from superfed.deploy.ray.spread.losses import Losses
from superfed.deploy.ray.spread.sending import Sending
from superfed.deploy.ray.spread.travel import owned
from superfed.engine.evaluate import ClientScores
from superfed.engine.lanes import Lane
from superfed.engine.local import Update
from superfed.engine.plan import num_steps
from superfed.engine.workers import WorkerFailed
from superfed.experiments.orders import Order

Result = TypeVar("Result")


class Spread:
    """An executor for some runs, on the cluster that this process is connected to. States stay in this process."""

    def __init__(self, orders: Sequence[Order], need: Need, patience: float = PATIENCE) -> None:
        import ray

        self.device = torch.device("cpu")
        self._need = need
        self._places = {id(order.task): place for place, order in enumerate(orders)}
        self._settings = [order.config.as_plain() for order in orders]
        self._luggage, self._data = ray.put(luggage_of(orders)), list(ship(orders).values())
        self._crew = Crew(need, self._open, sum(order.task.cohort_size for order in orders), patience)
        self._rounds = itertools.count()
        self._rates: defaultdict[Look | None, Rate] = defaultdict(Rate)
        self._threads = torch.get_num_threads()
        torch.set_num_threads(1)  # some of this machine's cores may be the cluster's

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]:
        costs = [_cost(lane, num_steps(lane.task, lane.client)) for lane in lanes]
        return self._map(lanes, costs, None, lambda result: Update(owned(result[0]), owned(result[1])))

    def evaluate(
        self, lanes: Sequence[Lane], lambdas: Sequence[float], epochs: int, brief: bool = False
    ) -> Iterator[tuple[int, ClientScores]]:
        costs = [_cost(lane, lane.task.data.train_size(lane.client)) for lane in lanes]
        return self._map(lanes, costs, Look(tuple(lambdas), epochs, brief), pickle.loads)

    def notes(self) -> dict[str, float]:
        """Those of the stations, on average."""
        every = [hand.notes for hand in self._crew.ready if hand.notes]
        return {name: sum(one[name] for one in every) / len(every) for name in (every[0] if every else ())}

    def close(self) -> None:
        torch.set_num_threads(self._threads)
        self._crew.end()

    def _open(self, actor: Any) -> Reference:
        return actor.open.remote(self._settings, self._need, self._luggage, *self._data)

    def _map(
        self, lanes: Sequence[Lane], costs: Sequence[float], look: Look | None, read: Callable[[Any], Result]
    ) -> Iterator[tuple[int, Result]]:
        """Whoever goes away before the last result leaves calls under way, whose answers nobody listens to."""
        if not lanes:
            return
        division = self._division(costs, look)
        sending = Sending(next(self._rounds), lanes, self._places, look)
        losses = Losses([(lane.client, lane.round) for lane in lanes])
        under_way: dict[Reference, list[int]] = {}
        left = len(lanes)
        while left:
            for hand in self._crew.free(division.at_once):
                places = division.take(len(self._crew.ready))
                if not places:
                    break
                under_way[self._crew.give(hand, *sending.of(places))] = places
            for call, answer in self._crew.answers():
                places = under_way.pop(call, [])
                if not places:
                    continue
                if isinstance(answer, Failure):
                    raise WorkerFailed(answer.reason, answer.where)
                if isinstance(answer, Lost):
                    losses.add(places, answer)
                    division.give_back(places)
                    continue
                division.took(places, answer.seconds)
                left -= len(places)
                for place, result in zip(places, answer.results, strict=True):
                    yield place, read(result)

    def _division(self, costs: Sequence[float], look: Look | None) -> Division:
        if not self._need.gpus:
            return LongestFirst(costs, self._rates[look])
        self._crew.gather()
        return EvenShares(costs)


def _cost(lane: Lane, steps: int) -> float:
    return float(max(steps, 1) * lane.task.model.size)
