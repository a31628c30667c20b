"""A finished run's model for whoever comes: newcomers are handed it, and what they make of it stays with them."""

import time
from collections.abc import Callable
from secrets import token_hex

from superfed.core.errors import UserError
from superfed.core.log import event
from superfed.deploy.flower.assemble import task_around
from superfed.deploy.flower.server.book import Book
from superfed.deploy.flower.server.link import Arrival, Link
from superfed.deploy.flower.server.rounds import NEVER, Clock
from superfed.deploy.flower.server.terms import Terms
from superfed.deploy.flower.wire.arrays import pack
from superfed.deploy.flower.wire.letters import Letter, Order, Reply, read, written
from superfed.deploy.flower.wire.refusal import Refusal
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.simulation import Run

POLL = 0.5


class Offer:
    """Hands the last state of the run in ``book`` to every newcomer who comes while it lasts."""

    def __init__(
        self,
        link: Link,
        terms: Terms,
        book: Book,
        clock: Clock = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._link, self._terms, self._book = link, terms, book
        self._clock, self._sleep = clock, sleep
        self._handed: dict[int, str] = {}
        self._waiting: set[str] = set()
        self.served: list[str] = []

    def last(self, seconds: float) -> None:
        letter, until = self._letter(), self._clock() + seconds
        while self._clock() < until:
            nodes = self._link.nodes()
            known = {id: node for id, node in nodes.items() if not self._terms.keys or node.key in self._terms.keys}
            new = [id for id, node in known.items() if self._handed.get(id) != node.since]
            if new:
                self._handed |= {id: known[id].since for id in new}
                sent = self._link.send(dict.fromkeys(new, letter), self._terms.rules.deadline)
                self._waiting |= set(sent.values())
            for arrival in self._link.pull(list(self._waiting)) if self._waiting else []:
                self._waiting.discard(arrival.id)
                self._note(arrival)
            self._sleep(POLL)

    def _note(self, arrival: Arrival) -> None:
        if arrival.letter is None:
            return
        try:
            reply = read(Reply, arrival.letter.facts)
        except Refusal:
            return
        if not reply.problem:
            self.served.append(reply.site[:64])
            event("served", f"{reply.site[:64]} has the model")

    def _letter(self) -> Letter:
        announced = self._book.announced()
        if announced is None:
            raise UserError(f"{self._book.folder}: there is no model yet to hand to a newcomer")
        agreement = self._terms.agreement.about(announced.num_classes, announced.input_shape)
        run = Run(task_around(announced, agreement.config))
        if not run.restore(Checkpoints(self._book.checkpoints)):
            raise UserError(f"{self._book.folder}: there is no model yet to hand to a newcomer")
        patience = self._terms.rules.deadline
        order = Order("serve", agreement.run, run.round, token_hex(16), NEVER, patience, agreement.to_json())
        return written(order, pack(run.server))
