"""What several cores give: the engine's workers, and torch's own threads for the plain loop."""

import os
import statistics
import sys
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import dataclass

import torch

from superfed.bench.case import Case, make_case
from superfed.bench.clock import seconds
from superfed.bench.measure import FEW, Effort, batches_and_epochs
from superfed.bench.networks import Network
from superfed.bench.sides import Side, by_turns, engine_side, plain_side
from superfed.core.algorithm import Algorithm
from superfed.engine.executors import make_executor

CPU = torch.device("cpu")
LANES_PER_WORKER = 4


@dataclass(frozen=True)
class Several:
    """So many workers or threads against one of them: how much faster."""

    count: int
    ratio: float
    lowest_ratio: float
    highest_ratio: float


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform.startswith("linux") else 1


def several_workers(algorithm: Algorithm, network: Network, effort: Effort) -> Several | None:
    """The engine with a worker on each core against one worker; None where there is one core."""
    count = usable_cores()
    if count == 1:
        return None
    lanes = LANES_PER_WORKER * count
    with closing(make_executor([], "cpu", workers=1)) as alone:
        case = _case(algorithm, network, lanes, effort, lambda case: engine_side(case, alone, clients=1))
        with closing(make_executor([case.task], "cpu", workers=count)) as workers:
            return _against(engine_side(case, workers), engine_side(case, alone), count, effort)


def several_threads(algorithm: Algorithm, network: Network, effort: Effort) -> Several | None:
    """The plain loop on as many threads as torch takes by itself against one thread; None where that is one."""
    count = torch.get_num_threads()
    if count == 1:
        return None
    case = _case(algorithm, network, 1, effort, lambda case: plain_side(case, 1, CPU, nullcontext))
    return _against(plain_side(case, 1, CPU, nullcontext), plain_side(case, 1, CPU), count, effort)


def _case(algorithm: Algorithm, network: Network, lanes: int, effort: Effort, trial: Callable[[Case], Side]) -> Case:
    """One that takes about a turn, by a trial of one client."""
    small = make_case(algorithm, network, lanes, batches=FEW, epochs=1)
    side = trial(small)
    rate = max(side.rate(seconds) for _ in range(2))
    batches, epochs = batches_and_epochs(rate * effort.turn / lanes / (small.steps // FEW))
    return make_case(algorithm, network, lanes, batches=batches, epochs=epochs)


def _against(several: Side, one: Side, count: int, effort: Effort) -> Several:
    several.work()
    one.work()
    ratios = [a / b for a, b in by_turns(several, one, effort.turns, seconds)]
    return Several(count, statistics.median(ratios), min(ratios), max(ratios))
