"""What a reproduction will take, found without reading any data: runs, client-steps, memory and time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from superfed.core.algorithm import FirstModel
from superfed.core.samples import FederatedData
from superfed.core.state import num_bytes
from superfed.core.vector import VectorModel
from superfed.engine.batched import WORTH_COMPILING, GroupKey, group_key
from superfed.engine.plan import num_steps
from superfed.engine.precision import Precision
from superfed.engine.task import Task
from superfed.experiments.assemble import data_seed
from superfed.experiments.schema import DataConfig, EngineConfig, RunConfig
from superfed.reproduce.cells import Cell, PlannedRun, runs
from superfed.reproduce.known import dealt
from superfed.reproduce.rates import COMPILE_SECONDS, NOT_COMPILED, Machine, Rate, rate


@dataclass(frozen=True)
class Cost:
    """Of one run."""

    client_steps: int
    lanes: int
    state_bytes: int
    """What the clients that took part keep, after the last round."""
    rounds: NDArray[np.int32] = field(repr=False, compare=False)
    """The steps of each lane, by round."""


@dataclass(frozen=True)
class Group:
    """Runs that are computed together: one shape of method, one network, one batch size."""

    title: str
    network: str
    batch_size: int
    parameters: int
    gradients: int
    runs: tuple[PlannedRun, ...]
    costs: tuple[Cost, ...]
    recurrent: bool
    precision: Precision

    @property
    def client_steps(self) -> int:
        return sum(cost.client_steps for cost in self.costs)

    def compiles(self, places: Iterable[int]) -> bool:
        """Whether the runs at these places, as a job of their own, are worth compiling."""
        return self.gradients * sum(self.costs[place].client_steps for place in places) >= WORTH_COMPILING

    @property
    def lanes(self) -> int:
        """That are computed at once, if all its runs are."""
        return sum(cost.lanes for cost in self.costs)

    @property
    def state_bytes(self) -> int:
        return sum(cost.state_bytes for cost in self.costs)

    def seconds(self, machine: Machine) -> float:
        """Of training alone: evaluation, and lanes that wait for longer ones, come on top."""
        updates = self.client_steps * self.gradients / self.rate(machine).at(self.lanes)
        compiled = self.compiles(range(len(self.costs)))
        return COMPILE_SECONDS[machine] + updates if compiled else NOT_COMPILED[machine] * updates

    def rate(self, machine: Machine) -> Rate:
        return rate(machine, self.network, self.parameters, self.precision)


@dataclass(frozen=True)
class Plan:
    num_cells: int
    seeds: tuple[int, ...]
    groups: tuple[Group, ...]

    @classmethod
    def of(cls, cells: Iterable[Cell], seeds: Sequence[int], precision: Precision = EngineConfig.precision) -> "Plan":
        """``precision`` is a GPU's."""
        every, counting = list(cells), Counting()
        together: dict[GroupKey, list[tuple[PlannedRun, Task]]] = {}
        for run in runs(every, seeds):
            task = counting.task(run.config)
            together.setdefault(group_key(task), []).append((run, task))
        groups = tuple(_group(members, counting, precision) for members in together.values())
        return cls(len(every), tuple(seeds), groups)

    @property
    def num_runs(self) -> int:
        return sum(len(group.runs) for group in self.groups)

    @property
    def client_steps(self) -> int:
        return sum(group.client_steps for group in self.groups)

    @property
    def state_bytes(self) -> int:
        """With all runs under way at once."""
        return sum(group.state_bytes for group in self.groups)

    def seconds(self, machine: Machine) -> float:
        return sum(group.seconds(machine) for group in self.groups)


class Counting:
    """Counts what runs will take, from the cohorts that they will draw; what several share is made once."""

    def __init__(self) -> None:
        self._dealt: dict[tuple[DataConfig, int], FederatedData] = {}
        self._models: dict[tuple[object, ...], VectorModel] = {}
        self._drawn: dict[tuple[object, ...], list[list[int]]] = {}
        self._kept: dict[tuple[object, ...], int] = {}

    def task(self, config: RunConfig) -> Task:
        """The run's task with clients that have sizes and no samples: it can be counted, not trained."""
        source = (config.data, data_seed(config))
        if source not in self._dealt:
            self._dealt[source] = dealt(*source)
        data = self._dealt[source]
        shape, dtype = tuple(data.input_shape), getattr(torch, config.engine.dtype)
        key = (config.model, shape, data.num_classes, dtype)
        if key not in self._models:
            builder = config.model.builder(shape, data.num_classes)
            self._models[key] = VectorModel(builder, head=config.model.head, dtype=dtype)
        precision = config.engine.precision
        return Task(
            config.algorithm, self._models[key], data, config.training, config.seed, config.data.newcomers, precision
        )

    def cost(self, task: Task) -> Cost:
        cohorts = self._cohorts(task)
        steps = {client: num_steps(task, client) for client in sorted({i for cohort in cohorts for i in cohort})}
        rounds = np.array([[steps[client] for client in cohort] for cohort in cohorts], dtype=np.int32)
        return Cost(int(rounds.sum()), task.cohort_size, len(steps) * self._kept_bytes(task), rounds)

    def _cohorts(self, task: Task) -> list[list[int]]:
        """Who is sampled, round by round."""
        key = (task.num_members, task.newcomers, task.cohort_size, task.schedule.rounds, task.seed)
        if key not in self._drawn:
            self._drawn[key] = [task.cohort(round) for round in range(task.schedule.rounds)]
        return self._drawn[key]

    def _kept_bytes(self, task: Task) -> int:
        """Of one client."""
        key = (task.algorithm, task.model)
        if key not in self._kept:
            blank = torch.empty(task.model.size, dtype=task.model.dtype)
            first = FirstModel(lambda: blank, lambda: blank)
            self._kept[key] = num_bytes(task.algorithm.init_client(first, task.model))
        return self._kept[key]


def _group(members: Sequence[tuple[PlannedRun, Task]], counting: Counting, precision: Precision) -> Group:
    run, task = members[0]
    return Group(
        title=task.algorithm.title,
        network=run.config.as_plain()["model"]["name"],
        batch_size=task.schedule.batch_size,
        parameters=task.model.size,
        gradients=task.algorithm.gradients,
        runs=tuple(run for run, _ in members),
        costs=tuple(counting.cost(task) for _, task in members),
        recurrent=task.model.recurrent,
        precision=precision,
    )
