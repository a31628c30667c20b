"""One run of an experiment: its folder, its config, and itself as far as it has come."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict

from superfed.core.errors import UserError
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.clients import DiskStates, MemoryStates
from superfed.engine.simulation import Run
from superfed.engine.task import Task
from superfed.experiments.newcomers import NewcomerResults
from superfed.experiments.provenance import versions
from superfed.experiments.results import Results
from superfed.experiments.schema import RunConfig
from superfed.store.files import read_json, remove_parts, write_json
from superfed.store.layout import RunFolder
from superfed.store.tables import columns_of, write_table


class Member:
    """A run as its last checkpoint has it, or about to begin; its folder is made where there is none."""

    def __init__(self, folder: RunFolder, config: RunConfig, task: Task) -> None:
        self.folder, self.config = folder, config
        if not folder.exists():
            _begin(folder, config, task)
        remove_parts(folder.path)
        if task.data.fingerprint != folder.info()["fingerprint"]:
            raise UserError(f"{folder.path}: the data is not what this run began with (its fingerprint differs)")
        self._checkpoints = Checkpoints(folder.checkpoints)
        on_disk = config.engine.state == "disk"
        self.run = Run(task, states=DiskStates(self._checkpoints.clients) if on_disk else MemoryStates())
        self.run.restore(self._checkpoints)
        self._seconds: dict[str, float] = read_json(folder.timing_file) if folder.timing_file.exists() else {}

    @property
    def has_results(self) -> bool:
        return bool(self.folder.info()["status"] != "running")

    @property
    def curve_is_due(self) -> bool:
        """At the very beginning, every so many rounds, and at the end."""
        run = self.run
        at = {point.round for point in run.curve}
        return run.round not in at and (run.round % self.config.evaluation.every == 0 or run.finished)

    @property
    def checkpoint_is_due(self) -> bool:
        return self.run.finished or self.run.round % self.config.engine.checkpoint_every == 0

    def final_clients(self) -> Sequence[int]:
        wanted = self.config.evaluation.final_clients
        return self.run.task.members if wanted == "all" else self.run.followed(wanted)

    def save(self) -> None:
        """What was measured so far as tables, and a checkpoint: in this order, since a run whose last checkpoint is there
        is never trained again, so nothing would write tables that were still missing then."""
        write_table(self.folder.rounds, columns_of([asdict(record) for record in self.run.records]))
        curve = [asdict(p) | {"lam": None if math.isnan(p.lam) else p.lam} for p in self.run.curve]
        write_table(self.folder.curve, columns_of(curve))
        self._save_seconds()
        self.run.save(self._checkpoints)

    def save_results(self, results: Results, newcomers: NewcomerResults | None) -> None:
        write_table(self.folder.clients, results.clients_table())
        write_table(self.folder.readings, results.readings_table())
        if newcomers is not None:
            write_table(self.folder.newcomers, newcomers.table())
        met = {"newcomers": None if newcomers is None else newcomers.summary()}
        write_json(self.folder.summary_file, results.summary(self.run.records) | met)
        self._save_seconds()
        stopped = self.run.stopped
        status = {"status": "finished"} if stopped is None else {"status": "stopped", "reason": stopped}
        self.folder.write_info(self.folder.info() | status)

    def spend(self, what: str, seconds: float) -> None:
        self._seconds[what] = self._seconds.get(what, 0.0) + seconds

    def _save_seconds(self) -> None:
        write_json(self.folder.timing_file, self._seconds)


@contextmanager
def timed(what: str, members: Sequence[Member]) -> Iterator[None]:
    """Share the block's seconds evenly among runs that advance together."""
    began = time.perf_counter()
    yield
    for member in members:
        member.spend(what, (time.perf_counter() - began) / len(members))


def _begin(folder: RunFolder, config: RunConfig, task: Task) -> None:
    """Make a run's folder, with all that is known before the first round."""
    folder.write_config(config.as_plain())
    named = {what: getattr(task.data, f"{what}_names", None) for what in ("class", "client")}
    if any(names is not None for names in named.values()):
        write_json(folder.names_file, {what: None if names is None else list(names) for what, names in named.items()})
    folder.write_info(
        {
            "name": folder.name,
            "title": config.algorithm.title,
            "status": "running",
            "fingerprint": task.data.fingerprint,
            "parameters": task.model.size,
            "layers": {layer.name: [layer.start, layer.stop] for layer in task.model.layers},
            "head": [task.model.head.start, task.model.head.stop],
            "versions": versions(),
        }
    )
