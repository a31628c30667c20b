"""One client's local update, one step after another: the plain runtime that every other one must equal."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from superfed.core.algorithm import Context, autograd_gradients
from superfed.core.batch import Batch
from superfed.core.flat import picked
from superfed.core.fused import Steps, fused_phase
from superfed.core.random import key, torch_seeded
from superfed.core.sgd import SGD
from superfed.core.state import State
from superfed.engine.fusing import flat_network, may_fuse, quicker
from superfed.engine.plan import PhasePlan, plan_update
from superfed.engine.task import Task, as_inputs

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Update:
    """What came out of a local update: what the client keeps, and what it sends to the server."""

    kept: State
    upload: State


def local_update(task: Task, client: int, round: int, kept: State, sent: State, device: torch.device = CPU) -> Update:
    """The update of ``client`` in ``round``, starting from what it kept and what the server sent, both on ``device``.

    Both states are left as they are.
    """
    samples, algorithm = task.data.train(client), task.algorithm
    x, y = as_inputs(samples.x, task.model).to(device), samples.y.to(device)

    def scalars(values: Mapping[str, float]) -> State:
        return {name: torch.tensor(v, dtype=task.model.dtype, device=device) for name, v in values.items()}

    method = algorithm.with_lane_values(scalars(algorithm.lane_values()))
    sgd, round_values = SGD(**scalars(task.sgd_values(round))), scalars(task.round_values(round))
    whole_round = Context(task.model, sgd, autograd_gradients, "", round_values, {})
    if device.type == "cpu" and not algorithm.second_order:
        whole_round = quicker(whole_round)
        x = flat_network(task.model).arranged(x)
    own_draws = key(task.seed, "module", round=round, client=client)  # for dropout and its like
    with torch.no_grad(), torch_seeded(own_draws, device):
        work = method.begin(kept, sent, whole_round)
        for plan in plan_update(task, client, round):
            fused = fused_phase(algorithm, plan.phase.name) if may_fuse(device, task.model.dtype) else None
            if fused is not None:
                work = fused(flat_network(task.model), work, sent, _steps(task, round, plan, x, y))
                continue
            noise = {name: rows.to(device) for name, rows in plan.noise.items()}
            rows = torch.from_numpy(plan.table).to(device)
            sizes = (plan.table >= 0).sum(axis=1).tolist()
            for step, size in enumerate(sizes):
                chosen = rows[step, :size]
                draws = {name: drawn[step] for name, drawn in noise.items()}
                ctx = replace(whole_round, phase=plan.phase.name, noise=draws)
                work = method.step(work, sent, Batch(picked(x, chosen), y[chosen]), ctx)
        new_kept, upload = method.finish(work, kept, sent, whole_round)
    return Update(new_kept, upload)


def _steps(task: Task, round: int, plan: PhasePlan, x: Tensor, y: Tensor) -> Steps:
    rows = [torch.from_numpy(row[row >= 0]) for row in plan.table]
    return Steps(x, y, rows, plan.noise, **task.sgd_values(round), round=task.round_values(round))
