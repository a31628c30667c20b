"""A run of a federation from its first round, or from its last completed one, to its end."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from secrets import token_hex

from superfed.core.errors import UserError
from superfed.core.log import event
from superfed.deploy.flower.assemble import task_around
from superfed.deploy.flower.server.announced import Announced
from superfed.deploy.flower.server.book import FAILED, FINISHED, Book
from superfed.deploy.flower.server.link import Arrival, Link, Node
from superfed.deploy.flower.server.rounds import Clock, RoundLog, Rounds
from superfed.deploy.flower.server.sites import Sites
from superfed.deploy.flower.server.terms import Terms
from superfed.deploy.flower.wire.arrays import pack
from superfed.deploy.flower.wire.letters import Letter, Reply, read, written
from superfed.deploy.flower.wire.numbers import Scores, read_scores
from superfed.deploy.flower.wire.refusal import Refusal
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.simulation import Run
from superfed.store.lock import locked

POLL, LOOK = 0.2, 1.0
"""Seconds between looks for replies, and between looks who is there."""

GRACE = 60.0
"""Seconds in which a server that goes on lets all sites find it again, though fewer would do."""


@dataclass(frozen=True)
class _Sent:
    kind: str
    node: int
    client: int
    opening: int
    """The how-many-th opening of a round it belongs to."""


class Conductor:
    """Conducts one run over ``link``; ``book`` is where it is kept and told."""

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
        self._rules = terms.rules
        self._sites = Sites(terms.agreement, terms.rules, terms.keys)
        self._waiting: dict[str, _Sent] = {}
        self._nodes: dict[int, Node] = {}
        self._reached: dict[int, tuple[int, str]] = {}
        self._looked, self._openings = float("-inf"), 0
        self._rounds: Rounds | None = None
        self._scores: dict[int, Scores] = {}
        self._unscored: dict[str, str] = {}

    def conduct(self) -> None:
        """Take the run to its end. How it ended is in the book; a failure is raised as well."""
        self._book.folder.mkdir(parents=True, exist_ok=True)
        with locked(self._book.folder):
            self._book.under_way()
            try:
                self._conduct()
            except UserError as problem:
                self._book.end(FAILED, str(problem))
                raise
            except BaseException as error:
                self._book.end(FAILED, f"the server's program failed ({type(error).__name__}); its log says more")
                raise
            self._book.end(FINISHED)

    def _conduct(self) -> None:
        rounds = self._rounds = self._prepared()
        while not rounds.finished:
            self._gather_enough(rounds)
            self._one_round(rounds)
        if rounds.failed is not None:
            raise UserError(rounds.failed)
        if rounds.run.stopped is not None:
            raise UserError(rounds.run.stopped)
        self._evaluate(rounds)

    def _prepared(self) -> Rounds:
        """Everybody is met, or was in an earlier attempt at this run."""
        announced = self._book.announced()
        if announced is None:
            announced = self._meet_all()
            self._book.announce(announced)
        else:
            self._sites.sizes |= dict(enumerate(announced.sizes))
        agreement = self._terms.agreement.about(announced.num_classes, announced.input_shape)
        run, checkpoints = Run(task_around(announced, agreement.config)), Checkpoints(self._book.checkpoints)
        if run.restore(checkpoints):
            event("resumed", f"goes on after round {run.round} of {run.task.schedule.rounds}", round=run.round)
        return Rounds(run, agreement, self._rules, checkpoints, self._clock)

    def _meet_all(self) -> Announced:
        sites = self._sites
        until = self._clock() + self._rules.gathering
        while missing := sites.missing():
            self._tell("gathering", waiting_for=missing)
            self._post()
            if self._clock() >= until:
                known = [f"{name}: {problem}" for name, problem in sites.problems.items() if name in missing]
                raise UserError(f"not all sites are there: {'; '.join(known) or ', '.join(missing) + ' did not come'}")
        shapes = {sites.shapes[client] for client in sites.shapes}
        if len(shapes) > 1:
            raise UserError(f"the sites' inputs differ in shape: {', '.join(map(str, sorted(shapes)))}")
        classes = self._terms.num_classes or max(sites.classes.values())
        if max(sites.classes.values()) > classes:
            raise UserError(f"a site's labels need {max(sites.classes.values())} classes, and {classes} were given")
        count = len(self._terms.agreement.sites)
        return Announced(tuple(sites.sizes[client] for client in range(count)), classes, shapes.pop())

    def _gather_enough(self, rounds: Rounds) -> None:
        """Wait until as many of the round's sites are there as it needs; at the very beginning, a while for all."""
        began = self._clock()
        until, all_until = began + self._rules.gathering, began + (GRACE if self._openings == 0 else 0.0)
        while True:
            self._post()
            there = [client for client in rounds.cohort if client in self._sites.present]
            wanted = len(rounds.cohort) if self._clock() < all_until else rounds.needed
            if len(there) >= wanted:
                return
            names = self._terms.agreement.sites
            away = [names[client] for client in rounds.cohort if client not in there]
            if self._clock() >= until:
                raise UserError(
                    f"round {rounds.run.round + 1} of {rounds.run.task.schedule.rounds}: {len(there)} of its sites are "
                    f"there, and {rounds.needed} are needed; {', '.join(away)} did not come"
                )
            self._tell("gathering", waiting_for=away)

    def _one_round(self, rounds: Rounds) -> None:
        self._openings += 1
        self._send("train", rounds.open(self._sites.present))
        self._tell("training", asked=rounds.log.asked)
        while not rounds.is_over():
            self._post()
            self._call_back(rounds)
        log = rounds.close()
        self._book.add_round(log)
        event("round", _told(log, rounds.run.task.schedule.rounds), round=log.round, seconds=round(log.seconds, 3))
        self._tell("training")

    def _evaluate(self, rounds: Rounds) -> None:
        """Every site that is there looks how good its own models are, and says the numbers."""
        names, run = self._terms.agreement.sites, rounds.run
        self._post()
        self._openings += 1
        arrays = pack(run.server)
        asked = sorted(self._sites.present)
        orders = {client: written(rounds.order("evaluate", client, token_hex(16)), arrays) for client in asked}
        self._send("evaluate", orders)
        until = self._clock() + self._rules.deadline
        while self._clock() < until and self._outstanding("evaluate"):
            self._tell("evaluating", waiting_for=[names[client] for client in asked if client not in self._scores])
            self._post()
        self._book.save_results(
            {
                "method": run.task.algorithm.title,
                "rounds": run.round,
                "problems": self._unscored,
                "sites": {name: _plain(self._scores.get(client)) for client, name in enumerate(names)},
            }
        )

    def _post(self) -> None:
        """Look who is there and what has come; then rest a little."""
        if self._clock() - self._looked >= LOOK:
            self._looked = self._clock()
            self._nodes = dict(self._link.nodes())
            letters = self._sites.look(self._nodes)
            for node, id in self._link.send(letters, self._rules.deadline).items() if letters else ():
                self._waiting[id] = _Sent("meet", node, -1, 0)
        arrived = self._link.pull(list(self._waiting)) if self._waiting else []
        for arrival in arrived:
            self._take(arrival)
        if not arrived:
            self._sleep(POLL)

    def _take(self, arrival: Arrival) -> None:
        sent = self._waiting.pop(arrival.id, None)
        if sent is None:
            return
        if arrival.gone and sent.node in self._nodes:
            self._sites.gone(sent.node, self._nodes[sent.node])
        if sent.kind == "meet":
            if arrival.letter is not None and sent.node in self._nodes:
                self._sites.met(sent.node, self._nodes[sent.node], arrival.letter)
        elif sent.kind == "evaluate":
            self._take_scores(sent.client, arrival.letter)
        elif self._rounds is not None:
            if arrival.letter is not None:
                reason = self._rounds.take(sent.client, arrival.letter)
                self._say_refused(sent.client, reason)
            elif sent.opening == self._openings and self._rounds.again(sent.client) is not None:
                self._rounds.lost(sent.client, arrival.reason)
                self._say_refused(sent.client, arrival.reason)

    def _take_scores(self, client: int, letter: Letter | None) -> None:
        if letter is None:
            return
        name = self._terms.agreement.sites[client]
        try:
            reply = read(Reply, letter.facts)
            if reply.problem:
                raise Refusal(reply.problem[:500])
            if reply.site == name:
                self._scores[client] = read_scores(reply.numbers)
        except Refusal as problem:
            self._unscored[name] = str(problem)
            event("refused", f"{name} could not be evaluated: {problem}", site=name)

    def _say_refused(self, client: int, reason: str | None) -> None:
        if reason is not None:
            name = self._terms.agreement.sites[client]
            event("refused", f"the reply of {name} is not used: {reason}", site=name, reason=reason)

    def _call_back(self, rounds: Rounds) -> None:
        """Ask those once more who went away with an order and have come back."""
        again: dict[int, Letter] = {}
        for client in rounds.asked:
            where = self._where(client)
            letter = rounds.again(client)
            if letter is not None and where is not None and self._reached.get(client) != where:
                again[client] = letter
        self._send("train", again)

    def _send(self, kind: str, letters: dict[int, Letter]) -> None:
        """Letters by client, to the nodes they are reached through now."""
        present = self._sites.present
        by_node = {present[client]: client for client in letters if client in present}
        if not by_node:
            return
        ids = self._link.send({node: letters[client] for node, client in by_node.items()}, self._rules.deadline)
        for node, id in ids.items():
            client = by_node[node]
            self._waiting[id] = _Sent(kind, node, client, self._openings)
            where = self._where(client)
            if where is not None:
                self._reached[client] = where

    def _where(self, client: int) -> tuple[int, str] | None:
        node = self._sites.present.get(client)
        return None if node is None or node not in self._nodes else (node, self._nodes[node].since)

    def _outstanding(self, kind: str) -> bool:
        return any(sent.kind == kind and sent.opening == self._openings for sent in self._waiting.values())

    def _tell(self, doing: str, **more: object) -> None:
        run = None if self._rounds is None else self._rounds.run
        names = self._terms.agreement.sites
        self._book.tell(
            doing=doing,
            round=0 if run is None else run.round,
            rounds=self._terms.agreement.config.training.rounds,
            present=[names[client] for client in sorted(self._sites.present)],
            **more,
        )


def _plain(scores: Scores | None) -> dict[str, object] | None:
    return None if scores is None else asdict(scores)


def _told(log: RoundLog, rounds: int) -> str:
    words = [f"round {log.round + 1} of {rounds}: {len(log.taken)} of {len(log.asked)} replies in {log.seconds:.1f} s"]
    words += [f"{len(log.missing)} missing"] if log.missing else []
    words += [f"{len(log.late)} late"] if log.late else []
    words += [f"{len(log.refused)} refused"] if log.refused else []
    return ", ".join(words)
