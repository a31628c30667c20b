"""One client's local update, one step after another: the plain runtime that every other one must equal."""

from dataclasses import dataclass

import torch

from superfed.core.algorithm import Context, autograd_gradients
from superfed.core.batch import Batch
from superfed.core.random import key, torch_seeded
from superfed.core.sgd import SGD
from superfed.core.state import State
from superfed.engine.plan import plan_update
from superfed.engine.task import Task, as_inputs


@dataclass(frozen=True)
class Update:
    """What came out of a local update: what the client keeps, and what it sends to the server."""

    kept: State
    upload: State


def local_update(task: Task, client: int, round: int, kept: State, sent: State) -> Update:
    """The update of ``client`` in ``round``, starting from what it kept and what the server sent.

    Both states are left as they are. The work is done where ``sent`` lies.
    """
    device = next(iter(sent.values())).device
    samples, algorithm, schedule = task.data.train(client), task.algorithm, task.schedule
    x, y = as_inputs(samples.x, task.model).to(device), samples.y.to(device)

    def scalar(value: float) -> torch.Tensor:
        return torch.tensor(value, dtype=task.model.dtype, device=device)

    sgd = SGD(scalar(schedule.rate(round)), scalar(schedule.momentum), scalar(schedule.weight_decay))
    round_values = {name: scalar(v) for name, v in algorithm.round_values(round, schedule.rounds).items()}
    method = algorithm.with_lane_values({name: scalar(v) for name, v in algorithm.lane_values().items()})
    own_draws = key(task.seed, "module", round=round, client=client)  # for dropout and its like
    with torch.no_grad(), torch_seeded(own_draws, device):
        work = method.begin(kept, sent, task.model)
        for plan in plan_update(task, client, round):
            noise = {name: rows.to(device) for name, rows in plan.noise.items()}
            rows = torch.from_numpy(plan.table).to(device)
            sizes = (plan.table >= 0).sum(axis=1).tolist()
            for step, size in enumerate(sizes):
                chosen = rows[step, :size]
                ctx = Context(
                    task.model,
                    sgd,
                    autograd_gradients,
                    plan.phase.name,
                    round_values,
                    {name: draws[step] for name, draws in noise.items()},
                )
                work = method.step(work, sent, Batch(x[chosen], y[chosen]), ctx)
        new_kept, upload = method.finish(work, kept, sent, task.model)
    return Update(new_kept, upload)
