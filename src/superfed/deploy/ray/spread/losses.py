"""Stations that were lost, and whether it was a lane that killed them."""

from collections import defaultdict
from collections.abc import Sequence

from superfed.core.log import LOG
from superfed.deploy.ray.cluster import nodes
from superfed.deploy.ray.spread.errands import Lost
from superfed.engine.workers import WorkerDied

DEATHS = 3
"""Stations that a lane may take with it, on machines that live on, before it is held to be what kills them."""


class Losses:
    """Of one round, whose lanes are ``clients`` with the rounds of their runs."""

    def __init__(self, clients: Sequence[tuple[int, int]]) -> None:
        self._clients = clients
        self._machines: defaultdict[int, list[str]] = defaultdict(list)

    def add(self, places: Sequence[int], loss: Lost) -> None:
        """A station was lost that had these lanes; raises where it is one too many."""
        if loss.machine is None:
            return
        if not self._machines:
            LOG.warning("%s; what was computed there is computed again", loss.reason)
        for place in places:
            self._machines[place].append(loss.machine)
        suspects = [place for place in places if len(self._machines[place]) >= DEATHS]
        alive = {node.id for node in nodes()} if suspects else set()
        for place in suspects:
            if sum(machine in alive for machine in self._machines[place]) >= DEATHS:
                client, round = self._clients[place]
                raise WorkerDied(
                    f"client {client} in round {round} took {DEATHS} processes with it, one after another ({loss.reason})"
                )
