"""Plans of the next round, drawn while the device computes this one: what clients draw depends on nothing but keys."""

from collections.abc import Hashable, Sequence

from superfed.engine.lanes import Lane
from superfed.engine.plan import PhasePlan, plan_key, plan_update

MOST = 2**24
"""Numbers that all plans drawn ahead may hold."""

Plan = Sequence[PhasePlan]


class PlansAhead:
    """Plans by what decides them."""

    def __init__(self) -> None:
        self._plans: dict[Hashable, Plan] = {}

    def of(self, lanes: Sequence[Lane]) -> list[Plan]:
        """The lanes' plans; runs with the same draws share one."""
        keys = [plan_key(lane.task, lane.client, lane.round) for lane in lanes]
        found: dict[Hashable, Plan] = {}
        for key, lane in zip(keys, lanes, strict=True):
            if key not in found:
                found[key] = self._plans.get(key) or plan_update(lane.task, lane.client, lane.round)
        return [found[key] for key in keys]

    def draw(self, lanes: Sequence[Lane]) -> None:
        """For the next round of the runs that these lanes are of; older plans are forgotten."""
        self._plans = {}
        numbers = 0
        for task, round in {id(lane.task): (lane.task, lane.round + 1) for lane in lanes}.values():
            for client in task.cohort(round) if round < task.schedule.rounds else ():
                key = plan_key(task, client, round)
                if key in self._plans:
                    continue
                if numbers > MOST:
                    return
                self._plans[key] = plan = plan_update(task, client, round)
                numbers += sum(part.table.size + sum(t.numel() for t in part.noise.values()) for part in plan)
