"""The stations of a run: started where there is room, given calls, replaced when they are lost."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from superfed.core.errors import UserError
from superfed.deploy.ray.cluster import nodes
from superfed.deploy.ray.need import Need, room
from superfed.deploy.ray.spread.errands import Answer, Call, Failure, Lost
from superfed.deploy.ray.spread.station import Station
from superfed.engine.workers import WorkerFailed

PATIENCE = 300.0
"""Seconds that a run waits for a first station, or for another one when all are lost."""
LOOK = 1.0
"""Seconds between two looks at whether there is room for more stations."""
OPENING = 60.0
"""Seconds that open stations wait for one that is not, before they divide a round without it."""
UNANSWERED = 10.0
"""Seconds in which all calls of a station that is gone are known to be lost."""

Reference = Any
"""One of Ray's, to what will come out of a call."""
Answers = list[tuple[Reference, Answer | Failure | Lost]]


@dataclass(eq=False)
class Hand:
    """One station, and the calls that it has to answer, oldest first."""

    actor: Any
    opening: Reference
    since: float = field(default_factory=time.monotonic)
    machine: str | None = None
    """None until it is open."""
    calls: list[Reference] = field(default_factory=list)
    notes: dict[str, float] = field(default_factory=dict)
    round: int = -1
    has: set[int] = field(default_factory=set)
    """What it was sent in this round."""


class Crew:
    """At most ``most`` stations, each with what ``need`` says of a machine; ``open`` has one opened."""

    def __init__(self, need: Need, open: Callable[[Any], Reference], most: int, patience: float = PATIENCE) -> None:
        import ray

        self._ray, self._need, self._open, self._most, self._patience = ray, need, open, most, patience
        self._hands: list[Hand] = []
        self._looked, self._helped = -math.inf, math.inf
        self._stillborn, self._last_words = 0, "it has no room"

    @property
    def ready(self) -> list[Hand]:
        return [hand for hand in self._hands if hand.machine is not None]

    def free(self, at_once: int) -> Iterator[Hand]:
        """Stations as often as they can be given a call: each has one before any has two."""
        for count in range(at_once):
            yield from (hand for hand in self.ready if len(hand.calls) == count)

    def give(self, hand: Hand, call: Call, sent: Mapping[int, Reference]) -> Reference:
        """``sent`` is what servers send to the call's lanes; what the station has of it already is not sent again."""
        if call.round != hand.round:
            hand.round, hand.has = call.round, set()
        new = [place for place in sent if place not in hand.has]
        hand.has.update(new)
        reference = hand.actor.compute.remote(call, new, *[sent[place] for place in new])
        hand.calls.append(reference)
        return reference

    def gather(self) -> None:
        """Wait for stations that are about to open."""
        while not self.ready or any(hand.machine is None and _age(hand) < OPENING for hand in self._hands):
            self.answers()

    def answers(self) -> Answers:
        """What calls came to, after a while; perhaps nothing."""
        self._mind_the_time()
        self._top_up()
        opening = [hand.opening for hand in self._hands if hand.machine is None]
        under_way = [call for hand in self._hands for call in hand.calls]
        if opening or under_way:
            done, _ = self._ray.wait(opening + under_way, timeout=LOOK)
        else:
            done = []
            time.sleep(LOOK)
        answers = [answer for reference in done for answer in self._answers_of(reference)]
        self._lose_patience()
        return answers

    def end(self) -> None:
        """Whatever they are doing."""
        for hand in self._hands:
            self._ray.kill(hand.actor)
        self._hands = []

    def _answers_of(self, reference: Reference) -> Answers:
        hand = next(hand for hand in self._hands if reference == hand.opening or reference in hand.calls)
        if reference == hand.opening:
            self._opened(hand)
            return []
        answer = self._get(reference)
        if isinstance(answer, Lost):
            return self._lost(hand)
        if isinstance(answer, Answer):
            hand.notes = answer.notes
        hand.calls.remove(reference)
        return [(reference, answer)]

    def _opened(self, hand: Hand) -> None:
        answer = self._get(hand.opening)
        if isinstance(answer, str):
            hand.machine, self._stillborn = answer, 0
            return
        self._dismiss(hand)
        if isinstance(answer, Failure):
            raise WorkerFailed(answer.reason, answer.where)
        self._stillborn, self._last_words, self._looked = self._stillborn + 1, answer.reason, time.monotonic()

    def _lost(self, hand: Hand) -> Answers:
        """Answers that it gave before count; the oldest call without one is what it was working on."""
        self._dismiss(hand)
        answers = [(call, self._get(call)) for call in hand.calls]
        working_on = next((place for place, (_, answer) in enumerate(answers) if isinstance(answer, Lost)), None)
        if working_on is not None:
            call, answer = answers[working_on]
            answers[working_on] = call, Lost(answer.reason, hand.machine)
            self._last_words = answer.reason
        self._looked = -math.inf
        return answers

    def _dismiss(self, hand: Hand) -> None:
        self._ray.kill(hand.actor)  # it may only be out of reach
        self._hands.remove(hand)

    def _get(self, reference: Reference) -> Any:
        try:
            return self._ray.get(reference, timeout=UNANSWERED)
        except self._ray.exceptions.OutOfMemoryError:
            return Lost("a machine ran out of memory")
        except self._ray.exceptions.RayTaskError as error:
            return Failure(" ".join(str(error.cause).split()), str(error))
        except self._ray.exceptions.RayError:
            return Lost("a process ended, perhaps of too little memory")

    def _top_up(self) -> None:
        """As many as there is room for. Where they die before they are open, attempts become rarer and rarer."""
        now = time.monotonic()
        if now - self._looked < LOOK * 2**self._stillborn:
            return
        self._looked = now
        wanted = min(room(nodes(), self._need), self._most)
        for hand in [hand for hand in self._hands if hand.machine is None][: max(len(self._hands) - wanted, 0)]:
            self._dismiss(hand)
        for _ in range(len(self._hands), wanted):
            kind = self._ray.remote(Station).options(max_restarts=0, max_task_retries=0, **self._need.resources())
            actor = kind.remote()
            self._hands.append(Hand(actor, self._open(actor)))

    def _mind_the_time(self) -> None:
        now = time.monotonic()
        self._helped = now if self.ready else min(self._helped, now)

    def _lose_patience(self) -> None:
        if not self.ready and time.monotonic() - self._helped > self._patience:
            raise UserError(
                f"--ray: no machine of the cluster computed anything for {self._patience:.0f} s ({self._last_words})"
            )


def _age(hand: Hand) -> float:
    return time.monotonic() - hand.since
