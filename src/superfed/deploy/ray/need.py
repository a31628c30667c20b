"""What something computed on a cluster takes of a machine, and the executor that makes use of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from superfed.deploy.ray.cluster import Node
from superfed.engine.executors import Executor, OneAtATime, make_executor
from superfed.engine.program import Tell
from superfed.engine.task import Task
from superfed.experiments.schema import EngineConfig


@dataclass(frozen=True)
class Need:
    """One core; and a GPU or some of it, if it is to be computed there."""

    gpus: float = 0.0

    def resources(self) -> dict[str, float]:
        return {"num_cpus": 1, "num_gpus": self.gpus}


def executor_for(tasks: Sequence[Task], engine: EngineConfig, need: Need, tell: Tell | None = None) -> Executor:
    """On a core one lane at a time; a GPU is this process's own, or as much of it as it asked for."""
    if not need.gpus:
        return OneAtATime(torch.device("cpu"))
    memory = engine.memory
    if memory is None and need.gpus < 1:
        memory = 0.8 * need.gpus * torch.cuda.get_device_properties(0).total_memory / 2**30
    return make_executor(tasks, "cuda", compile=engine.compile, memory=memory, tell=tell)


def room(machines: Iterable[Node], need: Need) -> int:
    """How many of such needs machines can meet at once; Ray gives nobody parts of two GPUs."""
    if need.gpus:
        return sum(int(node.gpus) * int(1 / need.gpus + 1e-9) for node in machines)
    return sum(int(node.cpus) for node in machines)
