"""One run of an experiment: its folder, its config, and itself as far as it has come."""

import math
import shutil
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from superfed.core.errors import UserError
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.clients import DiskStates, MemoryStates
from superfed.engine.simulation import Run
from superfed.engine.task import Task
from superfed.experiments.holdings import as_table, gather, summary, to_count
from superfed.experiments.newcomers import NewcomerResults
from superfed.experiments.orders import Order
from superfed.experiments.pace import Pace
from superfed.experiments.privacy import privacy_spent
from superfed.experiments.provenance import versions
from superfed.experiments.results import Results
from superfed.experiments.schema import RunConfig
from superfed.store.files import read_json, remove_parts, settle, write_json, write_text
from superfed.store.layout import RunFolder
from superfed.store.tables import columns_of, write_table


class Member:
    """A run as its last checkpoint has it, or about to begin; its folder is made where there is none."""

    def __init__(self, order: Order) -> None:
        folder, config, task = order.folder, order.config, order.task
        self.folder, self.config, self.title = folder, config, order.title
        begin_run(order)
        remove_parts(folder.path)
        check_data(order)
        self._checkpoints = Checkpoints(folder.checkpoints)
        on_disk = config.engine.state == "disk"
        self.run = Run(task, states=DiskStates(self._checkpoints.clients) if on_disk else MemoryStates())
        self.run.restore(self._checkpoints)
        self._saved = self.run.round
        self.notes: dict[str, float] = {}
        """What the engine has to say of how it was computed."""
        self._seconds: dict[str, float] = read_json(folder.timing_file) if folder.timing_file.exists() else {}
        self.has_results = folder.has_results()

    @property
    def curve_is_due(self) -> bool:
        """At the very beginning, every so many rounds, and at the end."""
        run = self.run
        at = {point.round for point in run.curve}
        return run.round not in at and (run.round % self.config.evaluation.every == 0 or run.finished)

    def checkpoint_is_due(self, pace: Pace) -> bool:
        every = self.config.engine.checkpoint_every
        return self.run.finished or (pace.allows(self.run.round) if every == "auto" else self.run.round % every == 0)

    def final_clients(self) -> Sequence[int]:
        return final_clients_of(self.config, self.run.task)

    def take_up(self, hardware: dict[str, Any]) -> None:
        """Note where the run goes on, or begins; that it failed once is forgotten."""
        self._write_info(status="running", hardware=hardware)

    def save(self) -> None:
        """What was measured so far as tables, and a checkpoint: in this order, since a run whose last checkpoint is there
        is never trained again, so nothing would write tables that were still missing then."""
        folder = self.folder
        write_table(folder.rounds, columns_of([vars(record) for record in self.run.records]), durable=False)
        curve = [vars(p) | {"lam": None if math.isnan(p.lam) else p.lam} for p in self.run.curve]
        write_table(folder.curve, columns_of(curve), durable=False)
        self._save_seconds()
        settle([folder.rounds, folder.curve])
        self.run.save(self._checkpoints)
        self._saved = self.run.round

    def save_if_whole(self) -> None:
        """As its last round left it, if that is not saved yet."""
        if self.run.whole and self.run.round > self._saved:
            self.save()

    def save_results(self, results: Results, newcomers: NewcomerResults | None) -> None:
        folder = self.folder
        tables = {
            folder.clients: results.clients_table(),
            folder.readings: results.readings_table(),
            folder.bins: results.bins_table(),
        }
        if newcomers is not None:
            tables[folder.newcomers] = newcomers.table()
        for path, columns in tables.items():
            write_table(path, columns, durable=False)
        met = {"newcomers": None if newcomers is None else newcomers.summary()}
        spent = {} if self.run.task.privacy is None else {"privacy": privacy_spent(self.run)}
        write_json(folder.summary_file, results.summary(self.run.records) | met | spent, durable=False)
        self._save_seconds()
        settle([*tables, folder.summary_file])
        self._checkpoints.keep_the_last()  # which one came before it, was a matter of time
        stopped = self.run.stopped
        news: dict[str, object] = (
            {"status": "finished"} if stopped is None else {"status": "stopped", "reason": stopped}
        )
        news |= {"engine": self.notes} if self.notes else {}
        if not folder.holdings.exists():  # the run is of an older program
            news |= {"holdings": _write_holdings(folder, self.run.task, results.clients)}
        self._write_info(**news)
        self.has_results = True
        remove_unwanted_models(self.folder, self.config)

    def save_failure(self, reason: str, error: Exception) -> None:
        save_failure(self.folder, reason, "".join(traceback.format_exception(error)))

    def spend(self, what: str, seconds: float) -> None:
        self._seconds[what] = self._seconds.get(what, 0.0) + seconds

    def _save_seconds(self) -> None:
        write_json(self.folder.timing_file, self._seconds, durable=False)

    def _write_info(self, **news: object) -> None:
        _write_info(self.folder, **news)
        self.folder.failure_file.unlink(missing_ok=True)


def check_data(order: Order) -> None:
    """A begun run is of the data that it began with."""
    if order.task.data.fingerprint != order.folder.info()["fingerprint"]:
        raise UserError(f"{order.folder.path}: the data is not what this run began with (its fingerprint differs)")


def unfinished(orders: Sequence[Order]) -> list[Order]:
    """Those that have no results yet; whoever ended the others may not have come to removing their models."""
    found = []
    for order in orders:
        if order.folder.has_results():
            check_data(order)
            remove_unwanted_models(order.folder, order.config)
        else:
            found.append(order)
    return found


def remove_unwanted_models(folder: RunFolder, config: RunConfig) -> None:
    """Of a run that has its results."""
    if not config.engine.keep_models and folder.checkpoints.exists():
        shutil.rmtree(folder.checkpoints)


def save_failure(folder: RunFolder, reason: str, where: str) -> None:
    """Why a run goes no further, in one sentence, and where in the program it was."""
    write_text(folder.failure_file, where)
    _write_info(folder, status="failed", reason=reason)


@contextmanager
def timed(what: str, members: Sequence[Member]) -> Iterator[None]:
    """Share the block's seconds evenly among runs that advance together."""
    began = time.perf_counter()
    yield
    for member in members:
        member.spend(what, (time.perf_counter() - began) / len(members))


def _write_info(folder: RunFolder, **news: object) -> None:
    """The run's info with ``news``; an older reason is not true any more."""
    info = {key: value for key, value in folder.info().items() if key != "reason"}
    folder.write_info(info | news)


def final_clients_of(config: RunConfig, task: Task) -> Sequence[int]:
    """Those that are evaluated after the last round."""
    wanted = config.evaluation.final_clients
    return task.members if wanted == "all" else task.some_members("followed", wanted)


def _write_holdings(folder: RunFolder, task: Task, clients: Sequence[int]) -> dict[str, float]:
    """What ``clients`` hold, or of very many a sample of them; the same in a few numbers comes back."""
    counted = to_count(len(clients), task.data.num_classes)
    held = gather(task.data, np.array([clients[place] for place in counted.tolist()]))
    write_table(folder.holdings, as_table(held))
    return summary(held)


def begin_run(order: Order) -> None:
    """Make a run's folder if there is none, with all that is known before the first round."""
    folder, config, task = order.folder, order.config, order.task
    if folder.exists():
        return
    holdings = _write_holdings(folder, task, final_clients_of(config, task))
    folder.write_config(config.of_the_run())
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
            "holdings": holdings,
            "versions": versions(),
        }
    )
