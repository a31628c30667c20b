"""One case measured: the engine and the plain loop by turns, in one process."""

import statistics
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import torch

from superfed.bench.case import Case, make_case
from superfed.bench.clock import seconds
from superfed.bench.floor import floor_of
from superfed.bench.flops import counted_flops
from superfed.bench.memory import allocated, with_peak
from superfed.bench.networks import Network
from superfed.bench.sides import Side, by_turns, engine_side, plain_side
from superfed.core.algorithm import Algorithm
from superfed.engine.executors import Executor, make_executor
from superfed.engine.precision import Precision

FEW, MOST = 2, 10
"""Mini-batches of an epoch, the most, and the most epochs too."""
TRIAL_ON_GPU, LEAST_ON_GPU, MOST_ON_GPU = 20, 50, 500
UPDATE_ON_GPU = 1.5
"""On a GPU the steps of a trial, and then how long an update is: so many seconds, but no more steps than in the paper's
runs, which have 360 to 870. Much is done once for each update of all lanes."""
MOST_CALLS = 50


@dataclass(frozen=True)
class Effort:
    """How long a case may take, about, and how many turns of each side decide it."""

    seconds: float
    turns: int

    @property
    def turn(self) -> float:
        """Seconds for one turn of one side; a turn of each goes before those that count."""
        return self.seconds / 2 / (self.turns + 1)


@dataclass(frozen=True)
class Measured:
    """Rates are client-steps a second: one client, one mini-batch."""

    lanes: int
    steps: int
    """Of one client's local update."""
    ours: float
    plain: float
    ratio: float
    lowest_ratio: float
    highest_ratio: float
    first_call_s: float
    """What the first call took beyond the second: compilation, mostly."""
    ours_peak_mib: float | None
    plain_peak_mib: float | None
    flops: float
    num_bytes: float
    floor: float
    bound: str


def measure(
    algorithm: Algorithm,
    network: Network,
    lanes: int,
    device: torch.device,
    effort: Effort,
    precision: Precision = "float32",
) -> Measured:
    held = allocated(device)
    case_of = partial(make_case, algorithm, network, lanes, precision=precision)
    small = case_of(batches=TRIAL_ON_GPU if device.type == "cuda" else FEW, epochs=1)
    few = case_of(batches=FEW, epochs=1)
    with closing(make_executor([small.task], str(device), workers=1, compile="on")) as executor:
        side, trial = engine_side(small, executor), plain_side(few, 1, device)
        first, second = (seconds(side.work, device) for _ in range(2))
        plain_rate = max(trial.rate() for _ in range(2))
        length = _Length.of(few, side.client_steps / second, plain_rate, device, effort)
        cases = [case_of(batches=batches, epochs=epochs) for batches, epochs in (length.ours, length.plain)]
        return _compared(cases[0], cases[1], length, executor, effort.turns, held, max(first - second, 0.0))


def batches_and_epochs(steps: float, most_batches: int = MOST) -> tuple[int, int]:
    """For about so many steps: first longer epochs, then more of them."""
    batches = min(max(int(steps), FEW), most_batches)
    return batches, min(max(int(steps / batches), 1), MOST)


@dataclass(frozen=True)
class _Length:
    """How much is done in one turn of each side: mini-batches and epochs, clients, and calls of the engine."""

    ours: tuple[int, int]
    plain: tuple[int, int]
    our_clients: int
    """On a GPU all, which are computed at once; on a CPU as many as there is time for."""
    plain_clients: int
    calls: int

    @classmethod
    def of(cls, few: Case, ours_rate: float, plain_rate: float, device: torch.device, effort: Effort) -> "_Length":
        lanes, phases = few.num_lanes, few.steps // FEW

        def fitting(rate: float, length: tuple[int, int]) -> int:
            """So many clients' updates of this length take a turn."""
            return max(round(rate * effort.turn / (phases * length[0] * length[1])), 1)

        if device.type == "cuda":
            steps = min(max(UPDATE_ON_GPU * ours_rate / lanes / phases, LEAST_ON_GPU), MOST_ON_GPU)
            ours, plain = batches_and_epochs(steps, LEAST_ON_GPU), batches_and_epochs(effort.turn * plain_rate / phases)
            calls = min(max(fitting(ours_rate, ours) // lanes, 1), MOST_CALLS)
            return cls(ours, plain, lanes, min(fitting(plain_rate, plain), lanes), calls)
        steps = 2 * effort.turn / (1 / ours_rate + 1 / plain_rate) / phases
        both = batches_and_epochs(steps)
        our_clients = min(fitting(ours_rate, both), lanes)
        calls = min(max(fitting(ours_rate, both) // our_clients, 1), MOST_CALLS)
        return cls(both, both, our_clients, min(fitting(plain_rate, both), lanes), calls)


def _compared(
    case: Case, plain_case: Case, length: _Length, executor: Executor, turns: int, held: int, first_call: float
) -> Measured:
    device = executor.device

    def used(side: Side) -> Side:
        side.work()
        return side

    ours, ours_peak = with_peak(
        lambda: used(engine_side(case, executor, length.our_clients, length.calls)), device, held
    )
    with counted_flops() as flops:
        plain, plain_peak = with_peak(
            lambda: used(plain_side(plain_case, length.plain_clients, device)), device, allocated(device)
        )
    rates = by_turns(ours, plain, turns)
    at_once = case.num_lanes if device.type == "cuda" else 1
    floor = floor_of(case, flops.total / plain.client_steps, at_once, device)
    ratios = [mine / theirs for mine, theirs in rates]
    return Measured(
        lanes=case.num_lanes,
        steps=case.steps,
        ours=statistics.median(mine for mine, _ in rates),
        plain=statistics.median(theirs for _, theirs in rates),
        ratio=statistics.median(ratios),
        lowest_ratio=min(ratios),
        highest_ratio=max(ratios),
        first_call_s=first_call,
        ours_peak_mib=ours_peak,
        plain_peak_mib=plain_peak,
        flops=floor.flops,
        num_bytes=floor.num_bytes,
        floor=1 / floor.seconds,
        bound=floor.bound,
    )
