"""Lanes made ready to travel."""

from collections.abc import Mapping, Sequence

from superfed.core.state import State
from superfed.deploy.ray.spread.crew import Reference
from superfed.deploy.ray.spread.errands import Call, Errand, Look
from superfed.deploy.ray.spread.travel import packed
from superfed.engine.lanes import Lane


class Sending:
    """Those of one round. What a run's server sends is put where every machine fetches it once."""

    def __init__(self, round: int, lanes: Sequence[Lane], tasks: Mapping[int, int], look: Look | None) -> None:
        import ray

        self._ray, self._round, self._lanes, self._tasks, self._look = ray, round, lanes, tasks, look
        self._put: dict[int, tuple[int, Reference]] = {}

    def of(self, places: Sequence[int]) -> tuple[Call, dict[int, Reference]]:
        """The call for these lanes, and what servers send to them."""
        lanes = [self._lanes[place] for place in places]
        sent = dict(self._sent(lane.sent) for lane in lanes)
        return Call(self._round, [self._errand(lane) for lane in lanes], self._look), sent

    def _sent(self, state: State) -> tuple[int, Reference]:
        if id(state) not in self._put:
            self._put[id(state)] = len(self._put), self._ray.put(packed(state))
        return self._put[id(state)]

    def _errand(self, lane: Lane) -> Errand:
        stored = lane.stored()
        kept = None if stored is None else packed(stored)
        return Errand(self._tasks[id(lane.task)], lane.client, lane.round, self._sent(lane.sent)[0], kept)
