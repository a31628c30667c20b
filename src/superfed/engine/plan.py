"""What a client's local update will draw: the order of its samples and the noise of its steps, decided by keys alone."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from superfed.core.algorithm import Phase
from superfed.core.batch import batch_table, epoch_orders, num_batches
from superfed.core.random import stream
from superfed.engine.task import Task


@dataclass(frozen=True)
class PhasePlan:
    """``table`` is ``[steps, batch_size]``, -1 where a batch is short; ``noise`` has a row per step."""

    phase: Phase
    table: NDArray[np.int64]
    noise: Mapping[str, Tensor]

    @property
    def steps(self) -> int:
        return len(self.table)


def plan_update(task: Task, client: int, round: int) -> list[PhasePlan]:
    """The plan of one client's local update in one round, phase by phase."""
    num_samples, schedule = task.data.train_size(client), task.schedule
    shapes = task.algorithm.noise(task.model)
    plans = []
    for index, phase in enumerate(task.algorithm.phases(schedule.local_epochs)):
        order_rng = stream(task.seed, f"batches/{index}", round=round, client=client)
        orders = epoch_orders(num_samples, phase.epochs, order_rng)
        table = batch_table(orders, schedule.batch_size, schedule.last_batch)
        noise_rng = stream(task.seed, f"noise/{index}", round=round, client=client)
        noise = {
            name: torch.from_numpy(np.asarray(noise_rng.random((len(table), *shape)))).to(task.model.dtype)
            for name, shape in shapes.items()
        }
        plans.append(PhasePlan(phase, table, noise))
    return plans


def plan_key(task: Task, client: int, round: int) -> Hashable:
    """Equal where plans are, as those of a sweep's runs with one seed: all that decides what will be drawn."""
    sizes = (task.data.train_size(client), task.schedule.batch_size, task.schedule.last_batch)
    shapes = tuple(task.algorithm.noise(task.model).items())
    phases = task.algorithm.phases(task.schedule.local_epochs)
    return (task.seed, client, round, sizes, phases, shapes, task.model.dtype)


def num_steps(task: Task, client: int) -> int:
    """How many steps the client's local update takes."""
    per_epoch = num_batches(task.data.train_size(client), task.schedule.batch_size, task.schedule.last_batch)
    return sum(phase.epochs for phase in task.algorithm.phases(task.schedule.local_epochs)) * per_epoch
