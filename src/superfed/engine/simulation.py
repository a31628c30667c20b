"""Rounds, as in Algorithm 2, of several runs that advance together."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from superfed.core.errors import UserError
from superfed.core.state import State, are_finite, moved, num_bytes, stacked
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.clients import ClientStates, MemoryStates
from superfed.engine.evaluate import ClientScores
from superfed.engine.executors import Executor
from superfed.engine.lanes import Lane
from superfed.engine.local import Update
from superfed.engine.task import Task


@dataclass(frozen=True)
class RoundRecord:
    """What happened in a round. Bytes are those that the method really exchanges, summed over the cohort."""

    round: int
    lr: float
    cohort: list[int]
    diverged: list[int]
    samples: int
    bytes_down: int
    bytes_up: int


@dataclass(frozen=True)
class CurvePoint:
    """Mean and spread over the clients followed through training, at one λ, after ``round`` rounds."""

    round: int
    lam: float
    num_clients: int
    top1: float
    top1_std: float
    loss: float


@dataclass
class Run:
    """A task and how far it has come."""

    task: Task
    states: ClientStates = field(default_factory=MemoryStates)
    server: State = field(default_factory=dict)
    round: int = 0
    records: list[RoundRecord] = field(default_factory=list)
    curve: list[CurvePoint] = field(default_factory=list)
    stopped: str | None = None
    """Why the run ended before its last round, if it did."""
    whole: bool = True
    """Whether it is as some round left it. Where someone interrupted the taking in of a round, it must not be saved."""

    def __post_init__(self) -> None:
        if not self.server:
            self.server = self.task.init_server()

    @property
    def finished(self) -> bool:
        return self.stopped is not None or self.round >= self.task.schedule.rounds

    def lane(self, index: int, client: int, sent: State) -> Lane:
        return Lane(index, self.task, client, self.round, sent, lambda: self.states.get(client))

    def sent(self, device: torch.device) -> State:
        return moved(self.task.algorithm.broadcast(self.server, self.task.model), device)

    def complete_round(self, updates: dict[int, Update], sent: State) -> None:
        """Take in a round's updates. One that is not finite is left out, and its client stays as it was."""
        self.whole = False
        cohort = sorted(updates)
        finite = are_finite([(updates[client].kept, updates[client].upload) for client in cohort])
        good = [client for client, fine in zip(cohort, finite, strict=True) if fine]
        if good:
            uploads = stacked([self.task.leaving(updates[client].upload, sent, client, self.round) for client in good])
            if uploads:  # a method may send nothing
                self.server = self.task.aggregate(moved(self.server, _device(uploads)), uploads, good)
            for client in good:
                self.states.put(client, updates[client].kept, self.round)
        else:
            self.stopped = (
                f"every client's update in round {self.round} was not finite; try a smaller lr "
                f"(it was {self.task.schedule.rate(self.round):.3g})"
            )
        self.records.append(
            RoundRecord(
                round=self.round,
                lr=self.task.schedule.rate(self.round),
                cohort=cohort,
                diverged=[client for client in cohort if client not in good],
                samples=sum(self.task.data.train_size(client) for client in good),
                bytes_down=num_bytes(sent) * len(cohort),
                bytes_up=sum(num_bytes(updates[client].upload) for client in good),
            )
        )
        if self.stopped is None:
            self.round += 1
        self.whole = True

    def followed(self, count: int) -> list[int]:
        """The clients whose accuracy is followed through training; the same in every round."""
        return self.task.some_members("followed", count)

    def add_to_curve(self, scores: Sequence[ClientScores]) -> None:
        top1 = np.array([s.test["top1"] for s in scores])
        loss = np.array([s.test["loss"] for s in scores])
        known = ~np.isnan(top1).any(axis=1)
        if not known.any():
            return
        self.curve += [  # all or nothing, whoever interrupts
            CurvePoint(
                round=self.round,
                lam=lam,
                num_clients=int(known.sum()),
                top1=float(top1[known, i].mean()),
                top1_std=float(top1[known, i].std()),
                loss=float(loss[known, i].mean()),
            )
            for i, lam in enumerate(scores[0].lambdas)
        ]

    def save(self, checkpoints: Checkpoints) -> None:
        record: dict[str, Any] = {
            "identity": self.task.identity,
            "records": [vars(r) for r in self.records],
            "curve": [vars(p) for p in self.curve],
            "stopped": self.stopped,
        }
        checkpoints.save(self.round, self.server, self.states, record)

    def restore(self, checkpoints: Checkpoints) -> bool:
        """Go back to the newest whole checkpoint; whether there was one."""
        loaded = checkpoints.load(self.states)
        if loaded is None:
            return False
        manifest, self.server = loaded
        if manifest.record["identity"] != self.task.identity:
            raise UserError(f"{checkpoints.folder}: holds a run with other data, method or settings")
        self.round = manifest.round
        self.records = [RoundRecord(**r) for r in manifest.record["records"]]
        self.curve = [CurvePoint(**p) for p in manifest.record["curve"]]
        self.stopped = manifest.record["stopped"]
        return True


def advance(
    runs: Sequence[Run],
    executor: Executor,
    on_lane: Callable[[int], None] | None = None,
    on_failure: Callable[[int, Exception], None] | None = None,
) -> Iterator[int]:
    """One more round of every unfinished run; yields a run's index when its round is complete.

    What goes wrong in one run's own part of the round, before or after its clients' updates, is handed to ``on_failure``
    with the run's index, and the others go on; that run is of no use then, but its checkpoints are. Without
    ``on_failure``, and where the executor fails, the error is raised.
    """
    sent: dict[int, State] = {}
    lanes: list[Lane] = []
    missing: dict[int, int] = {}
    for index, run in enumerate(runs):
        if run.finished:
            continue
        with _handing_over(on_failure, index):
            sent[index] = run.sent(executor.device)
            cohort = run.task.cohort(run.round)
            lanes += [run.lane(index, client, sent[index]) for client in cohort]
            missing[index] = len(cohort)
    updates: dict[int, dict[int, Update]] = {index: {} for index in missing}
    for place, update in executor.update(lanes):
        lane = lanes[place]
        updates[lane.run][lane.client] = update
        missing[lane.run] -= 1
        if on_lane is not None:
            on_lane(lane.run)
        if missing[lane.run] == 0:
            done = False
            with _handing_over(on_failure, lane.run):
                runs[lane.run].complete_round(updates.pop(lane.run), sent[lane.run])
                done = True
            if done:
                yield lane.run


def evaluate(
    runs: Sequence[Run],
    clients: Sequence[Sequence[int]],
    executor: Executor,
    lambdas: Sequence[float],
    on_lane: Callable[[int], None] | None = None,
    epochs: int | None = None,
    brief: bool = False,
) -> list[list[ClientScores]]:
    """The scores of the given clients of each run; or of a brief look, all that a curve needs.

    Before that each trains for itself alone: so many epochs, or as many as its run ends with, and for a brief look at how it
    stands as many as its method cannot do without.
    """
    results: list[dict[int, ClientScores]] = [{} for _ in runs]
    by_epochs: dict[int, list[Lane]] = {}
    for index, (run, chosen) in enumerate(zip(runs, clients, strict=True)):
        server = moved(run.server, executor.device)
        of_run = run.task.algorithm.adapt_epochs if brief else run.task.final_epochs
        trained = of_run if epochs is None else epochs
        by_epochs.setdefault(trained, []).extend(run.lane(index, client, server) for client in chosen)
    for trained, lanes in by_epochs.items():
        for place, scores in executor.evaluate(lanes, lambdas, trained, brief):
            results[lanes[place].run][lanes[place].client] = scores
            if on_lane is not None:
                on_lane(lanes[place].run)
    return [[scores[client] for client in chosen] for scores, chosen in zip(results, clients, strict=True)]


@contextmanager
def _handing_over(on_failure: Callable[[int, Exception], None] | None, index: int) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if on_failure is None:
            raise
        on_failure(index, error)


def _device(state: State) -> torch.device:
    return next(iter(state.values())).device
