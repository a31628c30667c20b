"""How a round's lanes are divided over stations."""

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import Protocol

SHORT = 0.1
"""Seconds. Lanes that take less are given out several at a time, since each call has a cost of its own."""

ROUNDING = 1e-9


class Division(Protocol):
    """Places of lanes that are still to be computed."""

    at_once: int
    """Calls that a station is given at a time."""

    def take(self, hands: int) -> list[int]:
        """What a station gets, of ``hands`` stations; nothing, if nothing is left."""
        ...

    def give_back(self, places: Iterable[int]) -> None:
        """These were not computed after all."""
        ...

    def took(self, places: Iterable[int], seconds: float) -> None:
        """These were, in so many seconds."""
        ...


class Rate:
    """Seconds that a unit of cost takes, as last measured."""

    def __init__(self) -> None:
        self._seconds = float("inf")

    def tell(self, cost: float, seconds: float) -> None:
        self._seconds = seconds / cost

    def in_seconds(self, seconds: float) -> float:
        """What can be done in that time; nothing, as long as it is not known."""
        return seconds / self._seconds if self._seconds > 0 else float("inf")


class LongestFirst:
    """One lane after another, to whoever has a hand free: the longest first, so that none is left to wait for at the end.

    Each station has a second call waiting, so that it never waits itself.
    """

    at_once = 2

    def __init__(self, costs: Sequence[float], rate: Rate) -> None:
        self._costs, self._total, self._rate = costs, sum(costs), rate
        self._left: list[int] = []
        self.give_back(range(len(costs)))

    def take(self, hands: int) -> list[int]:
        """One lane, or as many as are short together."""
        limit, taken, cost = self._limit(hands), list[int](), 0.0
        while self._left and (not taken or cost + self._costs[self._left[-1]] <= limit):
            taken.append(self._left.pop())
            cost += self._costs[taken[-1]]
        return taken

    def _limit(self, hands: int) -> float:
        """What is short, made smaller until all hands get equally often as much."""
        share, short = self._total / hands, self._rate.in_seconds(SHORT)
        return share / max(math.ceil(share / short), 1) * (1 + ROUNDING) if short > 0 else 0.0

    def give_back(self, places: Iterable[int]) -> None:
        self._left += places
        self._left.sort(key=lambda place: (self._costs[place], -place))

    def took(self, places: Iterable[int], seconds: float) -> None:
        self._rate.tell(sum(self._costs[place] for place in places), seconds)


class EvenShares:
    """All at once, a share for every station: a GPU is quicker with many lanes than with a few."""

    at_once = 1

    def __init__(self, costs: Sequence[float]) -> None:
        self._costs = costs
        self._left = list(range(len(costs)))
        self._shares: list[list[int]] = []

    def take(self, hands: int) -> list[int]:
        if self._left:
            self._shares += even_shares(self._left, self._costs, hands)
            self._left = []
        return self._shares.pop(0) if self._shares else []

    def give_back(self, places: Iterable[int]) -> None:
        self._left += places

    def took(self, places: Iterable[int], seconds: float) -> None: ...


def even_shares(places: Sequence[int], costs: Sequence[float], count: int) -> list[list[int]]:
    """At most so many, of about one cost: the longest first, each to the share that has least. Largest share first."""
    shares: list[tuple[float, int, list[int]]] = [(0.0, number, []) for number in range(count)]
    for place in sorted(places, key=lambda place: (-costs[place], place)):
        cost, number, share = heapq.heappop(shares)
        share.append(place)
        heapq.heappush(shares, (cost + costs[place], number, share))
    return [sorted(share) for _, _, share in sorted(shares, key=lambda one: -one[0]) if share]
