"""How many lanes of a stack still have work, step by step."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Segment:
    """So many steps of the first so many lanes."""

    lanes: int
    steps: int


def segments(steps_of_lanes: Sequence[int], sizes: Sequence[int]) -> list[Segment]:
    """The stack's steps, with as few lanes as have any left, rounded up to one of ``sizes``, which are ascending.

    ``steps_of_lanes`` descends, about: lanes are ordered by the steps of all phases, and where runs differ in how long each
    phase is, a lane may have more steps in this one than some above it, which then wait. There is a program for each size,
    so there should not be too many.
    """
    found: list[Segment] = []
    done = 0
    most_below = list(accumulate(reversed(steps_of_lanes), max))[::-1]
    for active in range(len(most_below), 0, -1):
        steps = most_below[active - 1] - done
        if steps == 0:
            continue
        lanes = sizes[bisect_left(sizes, active)]
        if found and found[-1].lanes == lanes:
            found[-1] = Segment(lanes, found[-1].steps + steps)
        else:
            found.append(Segment(lanes, steps))
        done += steps
    return found


FULL = 4_000_000
"""Parameters of all lanes together, below which a step on a GPU takes as long with fewer lanes."""


def fewest_lanes(parameters: int, recurrent: bool) -> int:
    """Below which a step takes no less time. Networks that go through time take long for each lane by itself."""
    return 1 if recurrent else max(FULL // parameters, 1)


def sizes_of(lanes: int, fewest: int) -> list[int]:
    """The sizes that a stack of ``lanes`` may shrink to: halves, down to ``fewest``, below which none saves time."""
    sizes = [lanes]
    while sizes[-1] > fewest:
        sizes.append(max(-(-sizes[-1] // 2), fewest))
    return sizes[::-1]


@dataclass(frozen=True)
class Shrinking:
    """Which of those sizes are worth a program: where lanes of clients with so many ``steps`` would else wait for ``least``
    of all steps or more, as a part of them."""

    steps: Sequence[int]
    least: float

    def sizes(self, lanes: int, fewest: int) -> list[int]:
        usual = self._usual(lanes)
        found = [lanes]
        for size in sizes_of(lanes, fewest)[-2::-1]:
            saved = (found[-1] - size) * (usual[0] - usual[size])  # the others have finished
            found += [size] if saved and saved >= self.least * sum(usual) else []
        return found[::-1]

    def _usual(self, lanes: int) -> list[int]:
        """The steps of so many clients, the most first, as they are drawn on average."""
        ordered = sorted(self.steps, reverse=True)
        return [ordered[(2 * place + 1) * len(ordered) // (2 * lanes)] for place in range(lanes)]
