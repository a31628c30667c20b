"""Which runs are computed together as one task, where there are several devices.

Runs of one program are quickest together, since many lanes keep a GPU busy where few leave it waiting. But a task has one
device, and one that is longer than a device's fair share of the work keeps all others waiting. So a group that is too long
is divided in two, and no more than it must be: fewer lanes are slower, and each part compiles its program again.

What "too long" means was chosen by simulating the paper's tables with one and three seeds on 1 to 64 GPUs. Against the best
rule in each case, the last task ended, on average,

- 1 % later with groups divided while they are longer than 1.25 fair shares, which is the rule here; 2 % later with 1 or 1.5,
  and 11 % with 2;
- 2.1 times as late with groups that are never divided, up to 9 times;
- 1.8 times as late with every run by itself, which takes twice the GPU time.

Two kinds of division are left out. A group no longer than the longest single run is whole, as dividing it ends nothing
earlier: to have a task for every device, which on 64 GPUs are many small ones, took half as much GPU time again for the same
end. And no part is so short that it would not be compiled where the whole would be: it ended up to three times as late, and
compiled programs round otherwise.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from superfed.engine.batched import WORTH_COMPILING

TOO_LONG = 1.25
"""Times a device's fair share of all work."""


@dataclass(frozen=True)
class Load:
    """What one run asks for."""

    key: Hashable
    """Equal for runs that can share a program: the engine's ``group_key``."""
    gradients: int
    """Of all client-steps of the whole run."""
    lanes: int
    """Clients of a round."""
    cost: float = 1.0
    """What one takes beside those of other runs. Left out where networks or methods differ, nobody knows which group is
    the longest: the last task ended a third later, on average, and up to 5 times as late."""

    @property
    def work(self) -> float:
        return self.gradients * self.cost


def pack(loads: Sequence[Load], slots: int, *, batched: bool) -> list[list[int]]:
    """The places of the loads in groups, a task each, longest first.

    A core computes one lane after another, so that there every run is a task of its own. Devices that compute lanes
    ``batched`` take runs of one key together, as far as that does not make a task too long.
    """
    if slots < 1:
        raise ValueError(f"slots: must be 1 or more, not {slots}")
    if not batched:
        return _longest_first([[place] for place in range(len(loads))], loads)
    by_key: dict[Hashable, list[int]] = {}
    for place, load in enumerate(loads):
        by_key.setdefault(load.key, []).append(place)
    groups = _longest_first(by_key.values(), loads)
    fair = sum(load.work for load in loads) / slots
    enough = max([TOO_LONG * fair, *(load.work for load in loads)])
    while (divided := _divided(groups, loads, enough)) is not None:
        groups = divided
    return groups


def _divided(groups: list[list[int]], loads: Sequence[Load], enough: float) -> list[list[int]] | None:
    """With one group more: the longest in two, of those that are too long and can be divided."""
    for place, group in enumerate(groups):
        if len(group) > 1 and _work(group, loads) > enough:
            halves = _halves(group, loads)
            if _gradients(group, loads) >= WORTH_COMPILING:
                halves = _long_enough(*halves, loads)
                if any(_gradients(half, loads) < WORTH_COMPILING for half in halves):
                    continue
            return _longest_first([*groups[:place], *halves, *groups[place + 1 :]], loads)
    return None


def _halves(group: Sequence[int], loads: Sequence[Load]) -> tuple[list[int], list[int]]:
    """Two parts of nearly equal work: the longest run first, each to the part that has less."""
    one, other = list[int](), list[int]()
    for place in sorted(group, key=lambda place: (-loads[place].work, place)):
        (one if (_work(one, loads), len(one)) <= (_work(other, loads), len(other)) else other).append(place)
    return sorted(one), sorted(other)


def _long_enough(one: list[int], other: list[int], loads: Sequence[Load]) -> tuple[list[int], list[int]]:
    """The parts with as many of the larger one's shortest runs in the smaller one as make this worth compiling."""
    small, large = sorted((one, other), key=lambda part: _gradients(part, loads))
    small, large = [*small], sorted(large, key=lambda place: (-loads[place].gradients, place))
    while _gradients(small, loads) < WORTH_COMPILING and len(large) > 1:
        small.append(large.pop())
    return sorted(small), sorted(large)


def _longest_first(groups: Iterable[list[int]], loads: Sequence[Load]) -> list[list[int]]:
    return sorted(groups, key=lambda group: (-_work(group, loads), group))


def _work(group: Iterable[int], loads: Sequence[Load]) -> float:
    return sum(loads[place].work for place in group)


def _gradients(group: Iterable[int], loads: Sequence[Load]) -> int:
    return sum(loads[place].gradients for place in group)
