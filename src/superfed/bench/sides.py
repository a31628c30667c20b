"""The two sides of a comparison: work that can be repeated, and how many client-steps it is."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import cycle, islice

import torch

from superfed.bench.case import ROUNDS, Case
from superfed.bench.clock import core_seconds
from superfed.bench.plain import plain_update
from superfed.engine.executors import Executor, one_thread
from superfed.engine.precision import products_in

Timer = Callable[[Callable[[], object], torch.device], float]


@dataclass(frozen=True)
class Side:
    work: Callable[[], None]
    client_steps: int
    device: torch.device

    def rate(self, timer: Timer = core_seconds) -> float:
        """Client-steps a second, this time."""
        return self.client_steps / timer(self.work, self.device)


def engine_side(case: Case, executor: Executor, clients: int | None = None, calls: int = 1) -> Side:
    """The local updates of all the case's clients, or of the first so many, so many times; each time in the next round,
    since a run's next round is not its last one again either."""
    lanes = case.lanes(executor.device)[:clients]
    rounds = cycle(range(case.round, ROUNDS))

    def work() -> None:
        for round in islice(rounds, calls):
            for _ in executor.update([replace(lane, round=round) for lane in lanes]):
                pass

    return Side(work, calls * len(lanes) * case.steps, executor.device)


def plain_side(
    case: Case,
    clients: int,
    device: torch.device,
    threads: Callable[[], AbstractContextManager[None]] = one_thread,
) -> Side:
    """The local updates of the first so many clients, one after another."""
    jobs, precision = case.jobs(clients, device), case.task.precision

    def work() -> None:
        with threads(), products_in(precision), torch.autocast(device.type, torch.bfloat16, precision == "bf16"):
            for job in jobs:
                plain_update(job, case.task.algorithm)

    return Side(work, clients * case.steps, device)


def by_turns(one: Side, other: Side, turns: int, timer: Timer = core_seconds) -> list[tuple[float, float]]:
    """The rates of both, by turns, so that noise falls on both alike."""
    return [(one.rate(timer), other.rate(timer)) for _ in range(turns)]
