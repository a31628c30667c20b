"""What a client's local update will draw: the order of its samples and the noise of its steps, decided by keys alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from superfed.core.algorithm import Phase
from superfed.core.batch import batch_table, epoch_orders
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


def plan_update(task: Task, client: int, round: int) -> Sequence[PhasePlan]:
    """The plan of one client's local update in one round, phase by phase; not to be written to."""
    sizes = (task.data.train_size(client), task.schedule.batch_size)
    phases, shapes = task.algorithm.phases(task.schedule.local_epochs), task.algorithm.noise(task.model)
    return _plans(task.seed, client, round, sizes, phases, tuple(shapes.items()), task.model.dtype)


@lru_cache(maxsize=256)
def _plans(
    seed: int,
    client: int,
    round: int,
    sizes: tuple[int, int],
    phases: tuple[Phase, ...],
    shapes: tuple[tuple[str, tuple[int, ...]], ...],
    dtype: torch.dtype,
) -> tuple[PhasePlan, ...]:
    """Kept for a while: the runs of a sweep that share a seed have the same clients draw the same."""
    num_samples, batch_size = sizes
    plans = []
    for index, phase in enumerate(phases):
        order_rng = stream(seed, f"batches/{index}", round=round, client=client)
        table = batch_table(epoch_orders(num_samples, phase.epochs, order_rng), batch_size)
        noise_rng = stream(seed, f"noise/{index}", round=round, client=client)
        noise = {
            name: torch.from_numpy(np.asarray(noise_rng.random((len(table), *shape)))).to(dtype)
            for name, shape in shapes
        }
        plans.append(PhasePlan(phase, table, noise))
    return tuple(plans)


def num_steps(task: Task, client: int) -> int:
    """How many steps the client's local update takes."""
    per_epoch = -(-task.data.train_size(client) // task.schedule.batch_size)
    return sum(phase.epochs for phase in task.algorithm.phases(task.schedule.local_epochs)) * per_epoch
