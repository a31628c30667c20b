"""A cluster that is reached when it is first needed, and what runs would take of its machines."""

from contextlib import ExitStack

import torch

from superfed.core.errors import SettingError, require
from superfed.deploy.ray.cluster import connected, nodes
from superfed.deploy.ray.likeness import check_likeness
from superfed.deploy.ray.need import Need
from superfed.engine.precision import check_precision
from superfed.experiments.assemble import named
from superfed.experiments.schema import EngineConfig


class Reached:
    """The cluster at ``address``, left with ``stack``; whatever is given out takes this share of a GPU, if any."""

    def __init__(self, address: str, gpus_per_task: float | None, stack: ExitStack) -> None:
        share = 1.0 if gpus_per_task is None else gpus_per_task
        require(0 < share <= 1, "--gpus-per-task", f"must be more than 0 and at most 1, not {share:g}")
        self.options = f" --ray {address}{'' if share == 1 else f' --gpus-per-task {share:g}'}"
        self._address, self._share, self._stack = address, share, stack
        self.is_reached = False

    def reach(self) -> None:
        if not self.is_reached:
            self._stack.enter_context(connected(self._address))
            check_likeness()
            self.is_reached = True

    def check(self, engine: EngineConfig) -> None:
        """Refuse what could not be computed there."""
        self.reach()
        with named("engine"):
            kind = "cuda" if self.need(engine).gpus else "cpu"
            check_precision(engine.precision, torch.device(kind))

    def need(self, engine: EngineConfig) -> Need:
        there = any(node.gpus >= self._share for node in nodes())
        if engine.device.startswith("cuda:"):
            raise SettingError(
                "device", f"{engine.device} was asked for, and Ray gives out GPUs itself; use device=cuda"
            )
        if engine.device == "cuda" and not there:
            raise SettingError("device", "cuda was asked for, and no machine of the cluster offers a GPU to Ray")
        return Need(self._share) if there and engine.device != "cpu" else Need()
