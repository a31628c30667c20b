"""A phase's batches and draws, put where a stack's program looks for them."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from superfed.engine.plan import PhasePlan
from superfed.engine.program import StackMemory


def put_schedule(memory: StackMemory, plans: Sequence[PhasePlan], starts: Sequence[int]) -> None:
    """``starts`` is where each lane's samples begin. Where nothing counts, a lane has no step.

    Tables are put together here lane by lane, and turned to step by step on the device.
    """
    most, lanes = max(plan.steps for plan in plans), len(plans)
    device = memory.places.device

    def by_step(table: Tensor) -> Tensor:
        return table.to(device).transpose(0, 1)

    rows = np.full((lanes, most, memory.places.shape[2]), -1, dtype=np.int32)
    for lane, plan in enumerate(plans):
        rows[lane, : plan.steps] = plan.table
    table = by_step(torch.from_numpy(rows))
    memory.counts[:most].zero_()
    memory.counts[:most, :lanes].copy_(table >= 0)
    memory.places[:most, :lanes].copy_(table.clamp_min(0) + torch.tensor(starts).to(device)[None, :, None])
    for name, noise in memory.noise.items():
        drawn = np.zeros((lanes, most, *noise.shape[2:]), dtype=plans[0].noise[name].numpy().dtype)
        for lane, plan in enumerate(plans):
            drawn[lane, : plan.steps] = plan.noise[name].numpy()
        noise[:most, :lanes].copy_(by_step(torch.from_numpy(drawn)))
    memory.step.zero_()
