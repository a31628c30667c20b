"""A process on a machine of the cluster that computes lanes, for as long as the run lasts."""

import pickle
import time
import traceback
from collections.abc import Sequence
from typing import Any

import torch

from superfed.core.state import State, moved
from superfed.deploy.ray.luggage import Luggage, unpack_luggage
from superfed.deploy.ray.need import Need, executor_for
from superfed.deploy.ray.shipping import Shipped, arrived
from superfed.deploy.ray.spread.errands import Answer, Call, Errand, Failure, Look
from superfed.deploy.ray.spread.travel import Arrays, opened, packed
from superfed.engine.executors import Executor
from superfed.engine.fusing import prepare
from superfed.engine.lanes import Lane
from superfed.engine.task import Task
from superfed.engine.workers import said
from superfed.experiments.assemble import Assembler
from superfed.experiments.schema import RunConfig


class Station:
    """A Ray actor. It is opened once, with all that lanes have in common, and then takes one call after another."""

    _tasks: list[Task]
    _executor: Executor

    def __init__(self) -> None:
        self._round = -1
        self._sent: dict[int, State] = {}

    def open(
        self, settings: Sequence[dict[str, Any]], need: Need, luggage: Luggage, *shipped: Shipped
    ) -> str | Failure:
        """On which machine it is."""
        import ray

        torch.set_num_threads(1)
        try:
            unpack_luggage(luggage)
            assembler = Assembler(None, arrived(shipped))
            configs = [RunConfig.from_plain(one) for one in settings]
            self._tasks = [assembler.task(config) for config in configs]
            if not need.gpus:
                prepare(self._tasks)
            self._executor = executor_for(self._tasks, configs[0].engine, need)
        except Exception as error:
            return Failure(said(error), traceback.format_exc())
        machine: str = ray.get_runtime_context().get_node_id()
        return machine

    def compute(self, call: Call, places: Sequence[int], *sent: Arrays) -> Answer | Failure:
        """The updates of some lanes, or their clients' scores. What servers sent comes with the first call of a round that
        needs it, and is remembered by its place."""
        began = time.perf_counter()
        try:
            self._remember(call.round, places, sent)
            lanes = [self._lane(errand) for errand in call.errands]
            results = self._updates(lanes) if call.look is None else self._scores(lanes, call.look)
        except Exception as error:
            return Failure(said(error), traceback.format_exc())
        return Answer(results, time.perf_counter() - began, self._executor.notes())

    def _remember(self, round: int, places: Sequence[int], sent: Sequence[Arrays]) -> None:
        if round != self._round:
            self._round, self._sent = round, {}
        here = self._executor.device
        self._sent |= {place: moved(opened(one), here) for place, one in zip(places, sent, strict=True)}

    def _lane(self, errand: Errand) -> Lane:
        task, sent = self._tasks[errand.task], self._sent[errand.sent]
        kept = None if errand.kept is None else opened(errand.kept)
        return Lane(errand.task, task, errand.client, errand.round, sent, lambda: kept)

    def _updates(self, lanes: Sequence[Lane]) -> list[tuple[Arrays, Arrays]]:
        updates = {place: (packed(one.kept), packed(one.upload)) for place, one in self._executor.update(lanes)}
        return [updates[place] for place in range(len(lanes))]

    def _scores(self, lanes: Sequence[Lane], look: Look) -> list[bytes]:
        """Pickled, so that who opens them gets arrays of their own: small ones, that may be kept for long."""
        scores = dict(self._executor.evaluate(lanes, look.lambdas, look.epochs, look.brief))
        return [pickle.dumps(scores[place]) for place in range(len(lanes))]
