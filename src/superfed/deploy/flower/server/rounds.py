"""The rounds of a federation, whatever carries its letters: who is asked, what is taken in, when a round is over.

A site that lets a deadline pass is asked again in later rounds, but not waited for until it is heard of.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from secrets import token_hex

import torch

from superfed.core.state import State
from superfed.deploy.flower.agreement import Agreement
from superfed.deploy.flower.server.rules import Rules
from superfed.deploy.flower.wire.arrays import pack, unpack
from superfed.deploy.flower.wire.expected import upload_template
from superfed.deploy.flower.wire.letters import Letter, Order, Reply, read, written
from superfed.deploy.flower.wire.refusal import Refusal
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.local import CPU, Update
from superfed.engine.simulation import Run

NEVER = -1
Clock = Callable[[], float]


@dataclass
class RoundLog:
    """What happened in a round, by the sites' names."""

    round: int
    attempt: int
    asked: list[str]
    away: list[str]
    """Sampled, but not there to be asked."""
    taken: list[str] = field(default_factory=list)
    diverged: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Asked, and not heard of until the round was over."""
    late: list[str] = field(default_factory=list)
    """Whose replies to earlier rounds came in this one, and were ignored."""
    refused: list[tuple[str, str]] = field(default_factory=list)
    """Whose replies were not used, and why."""
    seconds: float = 0.0
    complete: bool = False


class Rounds:
    """One round after another, until the run is finished or gives up."""

    def __init__(
        self, run: Run, agreement: Agreement, rules: Rules, checkpoints: Checkpoints, clock: Clock = time.monotonic
    ) -> None:
        self.run, self.agreement, self.rules = run, agreement, rules
        self.logs: list[RoundLog] = []
        self.failed: str | None = None
        """Why the run gave up, if it did."""
        self._checkpoints, self._clock = checkpoints, clock
        self._template = upload_template(run.task)
        self._text = agreement.to_json()
        self._taken = dict.fromkeys(run.task.members, NEVER)
        for record in run.records:
            self._taken |= {client: record.round for client in record.cohort if client not in record.diverged}
        self._silent: set[int] = set()
        self._tickets: dict[int, str] = {}
        self._earlier: dict[str, int] = {}
        self._used: set[str] = set()
        self._between = _nothing_yet()
        self._attempt, self._began = 0, 0.0
        self._sent: State = {}
        self._letters: dict[int, Letter] = {}
        self._updates: dict[int, Update] = {}
        self._answered: set[int] = set()

    @property
    def finished(self) -> bool:
        return self.failed is not None or self.run.finished

    @property
    def needed(self) -> int:
        return self.rules.needed(self.run.task.cohort_size)

    @property
    def cohort(self) -> list[int]:
        return self.run.task.cohort(self.run.round)

    @property
    def log(self) -> RoundLog:
        return self.logs[-1]

    @property
    def asked(self) -> list[int]:
        return sorted(self._letters)

    def open(self, present: Collection[int]) -> dict[int, Letter]:
        """Begin the round, or begin it once more: the orders for those of its cohort who are there."""
        self._attempt += 1
        self._began = self._clock()
        self._updates, self._answered = {}, set()
        asked = [client for client in self.cohort if client in present]
        self._sent = self.run.sent(CPU)
        arrays = pack(self._sent)
        self._tickets = {client: token_hex(16) for client in asked}
        self._letters = {client: written(self._order("train", client), arrays) for client in asked}
        away = [client for client in self.cohort if client not in present]
        log = RoundLog(self.run.round, self._attempt, self._names(asked), self._names(away))
        log.late, log.refused, self._between = self._between.late, self._between.refused, _nothing_yet()
        self.logs.append(log)
        return dict(self._letters)

    def again(self, client: int) -> Letter | None:
        """The same order once more, for a site that went away before it answered."""
        return None if client in self._answered else self._letters.get(client)

    def order(self, kind: str, client: int, ticket: str) -> Order:
        """An order that belongs to no round."""
        return Order(
            kind,
            self.agreement.run,
            self.run.round,
            ticket,
            self._taken.get(client, NEVER),
            self.rules.deadline,
            self._text,
        )

    def take(self, client: int, letter: Letter) -> str | None:
        """Take in a reply that came from ``client``; if it is not used, why."""
        self._silent.discard(client)
        try:
            update = self._checked(client, letter)
        except Refusal as reason:
            self._refuse(client, str(reason))
            return str(reason)
        if update is None:
            self._noted.late += self._names([client])
            return "it came late"
        self._answered.add(client)
        self._updates[client] = update
        return None

    def lost(self, client: int, reason: str) -> None:
        """A site's order came to nothing on the way."""
        self._refuse(client, reason)

    def is_over(self) -> bool:
        """Nobody is left to wait for, or nobody will be waited for any longer."""
        if self._clock() - self._began >= self.rules.deadline or self._answered.issuperset(self._letters):
            return True
        waited_for = self._letters.keys() - self._answered - self._silent
        return not waited_for and len(self._updates) >= self.needed

    def close(self) -> RoundLog:
        """Aggregate what came and keep it durably; or, where too little came, see to it that the round is asked for again."""
        log, task = self.log, self.run.task
        missing = [client for client in self._letters if client not in self._answered]
        self._silent |= set(missing)
        log.missing, log.seconds = self._names(missing), self._clock() - self._began
        good = sorted(client for client, update in self._updates.items() if update.upload is not _DIVERGED)
        diverged = sorted(self._updates.keys() - set(good))
        log.taken, log.diverged = self._names(good), self._names(diverged)
        if len(self._updates) >= self.needed:
            self.run.complete_round(self._updates, self._sent)
            self._taken |= dict.fromkeys(good, log.round)
            self._attempt = 0
            self.run.save(self._checkpoints)
            log.complete = True
        elif self._attempt >= self.rules.attempts:
            self.failed = (
                f"round {log.round + 1} of {task.schedule.rounds}: {len(self._updates)} of {len(self.cohort)} sites gave "
                f"an update that can be used, and {self.needed} are needed; it was asked for {self._attempt} times"
            )
        self._earlier |= {ticket: client for client, ticket in self._tickets.items()}
        self._letters, self._tickets = {}, {}
        return log

    def _order(self, kind: str, client: int) -> Order:
        return self.order(kind, client, self._tickets[client])

    def _checked(self, client: int, letter: Letter) -> Update | None:
        """The update in a reply; None if it was asked for in an earlier round."""
        reply = read(Reply, letter.facts)
        name, ticket = self.agreement.sites[client], reply.ticket
        if reply.site != name and not (reply.problem and not reply.site):
            raise Refusal(f"it says it is of '{reply.site[:40]}', and it came from '{name}'")
        if reply.run != self.agreement.run:
            raise Refusal("it is of another run")
        if ticket in self._used:
            raise Refusal("it was replayed")
        if self._earlier.get(ticket) == client:
            self._used.add(ticket)
            return None
        if ticket != self._tickets.get(client) or reply.round != self.run.round:
            raise Refusal(f"it is for round {reply.round + 1}, and this is round {self.run.round + 1}")
        self._used.add(ticket)
        if reply.problem:
            raise Refusal(reply.problem[:500])
        if reply.diverged:
            return Update({}, _DIVERGED)
        self.rules.limits.check_samples(reply.samples)
        announced = self.run.task.data.train_size(client)
        if reply.samples != announced:
            raise Refusal(f"it says it trains on {reply.samples} samples, and it had announced {announced}")
        upload = unpack(letter.arrays, self._template)
        self.rules.limits.check_norms(upload, self.run.server)
        return Update({}, upload)

    def _refuse(self, client: int, reason: str) -> None:
        self._noted.refused.append((self.agreement.sites[client], reason))
        self._answered.add(client)

    @property
    def _noted(self) -> RoundLog:
        """Where it is noted what comes: in the round that is open, or in the next one."""
        return self.log if self._letters else self._between

    def _names(self, clients: Collection[int]) -> list[str]:
        return [self.agreement.sites[client] for client in clients]


def _nothing_yet() -> RoundLog:
    return RoundLog(NEVER, 0, [], [])


_DIVERGED: State = {"diverged": torch.tensor(float("nan"))}
"""In place of an upload that was not finite: the engine leaves it out and notes whose it was."""
