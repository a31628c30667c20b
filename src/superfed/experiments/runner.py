"""An experiment on disk: started, gone on with, evaluated."""

import math
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.clients import DiskStates, MemoryStates
from superfed.engine.evaluate import lambda_grid
from superfed.engine.executors import Executor, check_engine, make_executor
from superfed.engine.simulation import Run, advance, evaluate
from superfed.experiments.assemble import Assembler, named
from superfed.experiments.labels import run_names
from superfed.experiments.load import resolve
from superfed.experiments.observer import Observer, Silent
from superfed.experiments.provenance import hardware, versions
from superfed.experiments.results import Results
from superfed.experiments.schema import RunConfig
from superfed.store.files import read_json, write_json
from superfed.store.layout import ExperimentFolder, RunFolder, find_experiment
from superfed.store.lock import locked
from superfed.store.tables import columns_of, write_table


def start(settings: dict[str, Any], out: Path, data_root: Path | None = None, observer: Observer | None = None) -> Path:
    """Run every run that ``settings`` stand for, in a new folder ``out``, and return it."""
    configs = resolve(settings)
    folder = ExperimentFolder(out)
    if not folder.is_free():
        raise UserError(
            f"{out}: is there already and not empty; choose another --out, or go on with: superfed resume {out}"
        )
    assembler = Assembler(data_root)
    for config in configs:  # every complaint comes before the first file
        assembler.task(config)
        with named("engine"):
            check_engine(config.engine.device, config.engine.workers)
    folder.write_info(
        {
            "name": settings.get("name", "experiment"),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "data_root": None if data_root is None else str(data_root.absolute()),
            "runs": run_names(configs),
        },
        settings,
    )
    return _go_on(folder, folder.info()["runs"], assembler, observer)


def resume(path: Path, data_root: Path | None = None, observer: Observer | None = None) -> Path:
    """Go on with the unfinished runs at ``path``, an experiment's folder or a run's, from their last checkpoints."""
    folder, names = find_experiment(path)
    return _go_on(folder, names, _assembler(folder, data_root), observer)


def _go_on(folder: ExperimentFolder, names: list[str], assembler: Assembler, observer: Observer | None) -> Path:
    with locked(folder.path):
        configs = _configs(folder, names)
        for name, config in zip(names, configs, strict=True):
            if not folder.run(name).exists():
                _begin(folder.run(name), config, assembler)
        runs = [_restored(folder.run(name), config, assembler) for name, config in zip(names, configs, strict=True)]
        _Session(folder, names, configs, runs, observer or Silent()).go()
    return folder.path


def _begin(run_folder: RunFolder, config: RunConfig, assembler: Assembler) -> None:
    """Make a run's folder, with all that is known before the first round."""
    task = assembler.task(config)
    run_folder.write_config(config.as_plain())
    run_folder.write_info(
        {
            "name": run_folder.name,
            "title": config.algorithm.title,
            "status": "running",
            "fingerprint": task.data.fingerprint,
            "parameters": task.model.size,
            "layers": {layer.name: [layer.start, layer.stop] for layer in task.model.layers},
            "head": [task.model.head.start, task.model.head.stop],
            "versions": versions(),
        }
    )


def reevaluate(
    path: Path, data_root: Path | None = None, lambdas: int | None = None, observer: Observer | None = None
) -> Path:
    """Evaluate every client anew from the last checkpoints, and write the results over the old ones."""
    folder, names = find_experiment(path)
    assembler = _assembler(folder, data_root)
    with locked(folder.path):
        configs = _configs(folder, names)
        runs = [_restored(folder.run(name), config, assembler) for name, config in zip(names, configs, strict=True)]
        for name, run in zip(names, runs, strict=True):
            if not run.finished:
                raise UserError(
                    f"{folder.path / name}: has done {run.round} of {run.task.schedule.rounds} rounds; "
                    f"finish it first with: superfed resume {path}"
                )
        session = _Session(folder, names, configs, runs, observer or Silent())
        with closing(session.executor()) as executor:
            session.evaluate_finally(executor, range(len(runs)), lambdas)
    return folder.path


class _Session:
    """Some runs of one experiment, in memory, until they are finished."""

    def __init__(
        self,
        folder: ExperimentFolder,
        names: Sequence[str],
        configs: Sequence[RunConfig],
        runs: Sequence[Run],
        observer: Observer,
    ) -> None:
        self.folders = [folder.run(name) for name in names]
        self.checkpoints = [Checkpoints(run_folder.checkpoints) for run_folder in self.folders]
        self.names, self.configs, self.runs, self.observer = list(names), configs, runs, observer
        self.seconds: list[dict[str, float]] = [_timing(run_folder) for run_folder in self.folders]

    def executor(self) -> Executor:
        engine = self.configs[0].engine
        with named("engine"):
            return make_executor([run.task for run in self.runs], engine.device, engine.workers)

    def go(self) -> None:
        self.observer.started(self.names, list(self.runs))
        with closing(self.executor()) as executor:
            for run_folder in self.folders:
                run_folder.write_info(run_folder.info() | {"hardware": hardware(executor.device)})
            self._follow(executor, [i for i, run in enumerate(self.runs) if run.round == 0 and not run.curve])
            while not all(run.finished for run in self.runs):
                self._one_round(executor)
            unfinished = [i for i, f in enumerate(self.folders) if f.info()["status"] == "running"]
            self.evaluate_finally(executor, unfinished)

    def _one_round(self, executor: Executor) -> None:
        began = time.perf_counter()
        done = []
        for index in advance(self.runs, executor, self.observer.lane_done):
            done.append(index)
            self.observer.round_done(index)
        self._spend("training", done, began)
        every = [self.configs[i].evaluation.every for i in done]
        due = [i for i, n in zip(done, every, strict=True) if self.runs[i].round % n == 0 or self.runs[i].finished]
        self._follow(executor, due)
        began = time.perf_counter()
        for index in done:
            run = self.runs[index]
            if run.finished or run.round % self.configs[index].engine.checkpoint_every == 0:
                self._save(index)
        self._spend("checkpoints", done, began)

    def _follow(self, executor: Executor, due: Sequence[int]) -> None:
        """Add to the accuracy curves of the runs ``due``."""
        if not due:
            return
        began = time.perf_counter()
        for points in sorted({self.configs[i].evaluation.lambdas for i in due}):
            group = [i for i in due if self.configs[i].evaluation.lambdas == points]
            runs = [self.runs[i] for i in group]
            clients = [run.followed(self.configs[i].evaluation.clients) for i, run in zip(group, runs, strict=True)]
            for run, scores in zip(runs, evaluate(runs, clients, executor, lambda_grid(points)), strict=True):
                run.add_to_curve(scores)
        self._spend("evaluation", due, began)

    def _save(self, index: int) -> None:
        run, run_folder = self.runs[index], self.folders[index]
        run.save(self.checkpoints[index])
        write_table(run_folder.rounds, columns_of([asdict(record) for record in run.records]))
        curve = [asdict(p) | {"lam": None if math.isnan(p.lam) else p.lam} for p in run.curve]
        write_table(run_folder.curve, columns_of(curve))
        write_json(run_folder.timing_file, self.seconds[index])

    def evaluate_finally(self, executor: Executor, which: Sequence[int], lambdas: int | None = None) -> None:
        """All clients of the given runs, at every λ; a run's results are on disk before the next one's begin."""
        which = list(which)
        clients = {i: self._finally(i) for i in which}
        self.observer.evaluating(sum(len(chosen) for chosen in clients.values()))
        for index in which:
            began = time.perf_counter()
            run, run_folder, config = self.runs[index], self.folders[index], self.configs[index]
            grid = lambda_grid(lambdas or config.evaluation.lambdas)
            # every run keeps its place, because workers know tasks by it
            chosen: list[Sequence[int]] = [clients[i] if i == index else () for i in range(len(self.runs))]
            scores = evaluate(self.runs, chosen, executor, grid, lambda _: self.observer.client_evaluated())[index]
            results = Results(clients[index], scores)
            write_table(run_folder.clients, results.clients_table())
            write_table(run_folder.readings, results.readings_table())
            write_json(run_folder.summary_file, results.summary(run.records))
            self._spend("final evaluation", [index], began)
            write_json(run_folder.timing_file, self.seconds[index])
            status = {"status": "finished"} if run.stopped is None else {"status": "stopped", "reason": run.stopped}
            run_folder.write_info(run_folder.info() | status)

    def _finally(self, index: int) -> Sequence[int]:
        wanted = self.configs[index].evaluation.final_clients
        run = self.runs[index]
        return range(run.task.data.num_clients) if wanted == "all" else run.followed(wanted)

    def _spend(self, what: str, which: Sequence[int], began: float) -> None:
        """Share the seconds since ``began`` evenly among the runs that advanced together."""
        for index in which:
            spent = (time.perf_counter() - began) / len(which)
            self.seconds[index][what] = self.seconds[index].get(what, 0.0) + spent


def _assembler(folder: ExperimentFolder, data_root: Path | None) -> Assembler:
    """Data is looked for where it is said to be now, or else where it was when the experiment began."""
    stored = folder.info().get("data_root")
    return Assembler(data_root if data_root is not None or stored is None else Path(stored))


def _configs(folder: ExperimentFolder, names: list[str]) -> list[RunConfig]:
    every = resolve(folder.info()["config"])
    by_name = dict(zip(run_names(every), every, strict=True))
    return [by_name[name] for name in names]


def _restored(run_folder: RunFolder, config: RunConfig, assembler: Assembler) -> Run:
    task = assembler.task(config)
    expected = run_folder.info()["fingerprint"]
    if task.data.fingerprint != expected:
        raise UserError(f"{run_folder.path}: the data is not what this run began with (its fingerprint differs)")
    run = Run(task, states=_states(config, run_folder))
    run.restore(Checkpoints(run_folder.checkpoints))
    return run


def _states(config: RunConfig, run_folder: RunFolder) -> MemoryStates | DiskStates:
    return MemoryStates() if config.engine.state == "memory" else DiskStates(run_folder.checkpoints / "clients")


def _timing(run_folder: RunFolder) -> dict[str, float]:
    return read_json(run_folder.timing_file) if run_folder.timing_file.exists() else {}
