"""A phase's batches and draws, put where a stack's program looks for them."""

from collections.abc import Sequence

import numpy as np
import torch

from superfed.engine.plan import PhasePlan
from superfed.engine.program import StackMemory


def put_schedule(memory: StackMemory, plans: Sequence[PhasePlan], starts: Sequence[int]) -> None:
    """``starts`` is where each lane's samples begin. Where nothing counts, a lane has no step."""
    most, lanes = max(plan.steps for plan in plans), len(plans)
    _, capacity, batch_size = memory.places.shape
    places = np.zeros((most, capacity, batch_size), dtype=np.int64)
    counts = np.zeros((most, capacity, batch_size), dtype=bool)
    for lane, (plan, start) in enumerate(zip(plans, starts, strict=True)):
        counts[: plan.steps, lane] = plan.table >= 0
        places[: plan.steps, lane] = np.maximum(plan.table, 0) + start
    memory.places[:most].copy_(torch.from_numpy(places))
    memory.counts[:most].copy_(torch.from_numpy(counts))
    for name, table in memory.noise.items():
        drawn = torch.zeros(most, lanes, *table.shape[2:], dtype=table.dtype)
        for lane, plan in enumerate(plans):
            drawn[: plan.steps, lane] = plan.noise[name]
        table[:most, :lanes].copy_(drawn)
    memory.step.zero_()
