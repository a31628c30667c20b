"""A small run from its first round to its last evaluation: how much of its time is not local updates."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import torch

from superfed.bench.case import vector_model
from superfed.bench.clock import Clock, seconds
from superfed.bench.measure import Effort
from superfed.bench.networks import NETWORKS
from superfed.bench.samples import RandomClients
from superfed.core.algorithm import Algorithm
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.evaluate import ClientScores, lambda_grid
from superfed.engine.executors import Executor, make_executor
from superfed.engine.lanes import Lane
from superfed.engine.local import Update
from superfed.engine.plan import num_steps
from superfed.engine.simulation import Run, advance, evaluate
from superfed.engine.task import Schedule, Task
from superfed.experiments.pace import Pace


@dataclass(frozen=True)
class Size:
    rounds: int
    """At most."""
    times: int
    """As long as what a case takes of time."""
    epochs: int
    clients: int
    samples: int


ON_CPU, ON_GPU = Size(20, 2, 5, 40, 200), Size(500, 50, 10, 100, 600)
"""On a GPU a hundredth of MNIST each and as many rounds as in the paper's runs: what is done once must not count more than
there."""
FOLLOWED, EVERY, LAMBDAS = 20, 10, 11
"""Every ten rounds some clients are evaluated and, if it has been long enough, a checkpoint is written; all are evaluated in
the end, as runs do."""


@dataclass(frozen=True)
class WholeRun:
    """Seconds by what they went into. What is in none of these is what rounds need around their updates."""

    rounds: int
    client_steps: int
    total_s: float
    updates_s: float
    evaluation_s: float
    checkpoints_s: float

    @property
    def outside(self) -> float:
        """The share of time outside local updates."""
        return 1 - self.updates_s / self.total_s


def whole_run(algorithm: Algorithm, device: torch.device, effort: Effort) -> WholeRun:
    """TwoNN on all cores or on the GPU, as runs are; what is compiled was compiled before."""
    network, size = NETWORKS["two_nn"], ON_GPU if device.type == "cuda" else ON_CPU
    data, schedule = RandomClients(network, size.clients, size.samples), Schedule(size.rounds, local_epochs=size.epochs)
    task = Task(algorithm, vector_model(network, torch.float32), data, schedule)
    clock = Clock(device)
    with tempfile.TemporaryDirectory() as folder, closing(_executor(task, device)) as inner:
        a_round = min(seconds(lambda: list(advance([Run(task)], inner)), device) for _ in range(2))
        rounds = min(max(int(size.times * effort.seconds / a_round), 1), size.rounds)
        run, checkpoints, executor, pace = Run(task), Checkpoints(Path(folder)), Timed(inner, clock), Pace()
        with clock("total"):
            while run.round < rounds:
                list(advance([run], executor))
                if run.round % EVERY == 0 or run.round == rounds:
                    with clock("evaluation"):
                        (scores,) = evaluate(
                            [run], [run.followed(FOLLOWED)], executor, lambda_grid(LAMBDAS), brief=True
                        )
                        run.add_to_curve(scores)
                    if pace.allows(run.round) or run.round == rounds:
                        with clock("checkpoints"), pace.writing():
                            run.save(checkpoints)
            with clock("evaluation"):
                evaluate([run], [task.members], executor, lambda_grid(LAMBDAS))
    return WholeRun(
        rounds=rounds,
        client_steps=rounds * task.cohort_size * num_steps(task, 0),
        total_s=clock.seconds["total"],
        updates_s=clock.seconds["updates"],
        evaluation_s=clock.seconds["evaluation"],
        checkpoints_s=clock.seconds["checkpoints"],
    )


def _executor(task: Task, device: torch.device) -> Executor:
    return make_executor([task], str(device), compile="on")


class Timed:
    """An executor whose local updates are timed."""

    def __init__(self, inner: Executor, clock: Clock) -> None:
        self.device = inner.device
        self._inner, self._clock = inner, clock

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]:
        results = self._inner.update(lanes)
        while True:
            with self._clock("updates"):  # until the next result is there, and not what is done with it
                result = next(results, None)
            if result is None:
                return
            yield result

    def evaluate(
        self, lanes: Sequence[Lane], lambdas: Sequence[float], epochs: int, brief: bool = False
    ) -> Iterator[tuple[int, ClientScores]]:
        return self._inner.evaluate(lanes, lambdas, epochs, brief)

    def notes(self) -> dict[str, float]:
        return self._inner.notes()

    def close(self) -> None:
        self._inner.close()
