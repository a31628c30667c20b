"""An experiment on disk: started, gone on with, evaluated."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.engine.evaluate import lambda_grid
from superfed.engine.executors import Executor, check_engine, make_executor
from superfed.engine.simulation import Run, advance, evaluate
from superfed.experiments.assemble import Assembler, named
from superfed.experiments.labels import run_names
from superfed.experiments.load import resolve
from superfed.experiments.member import Member, timed
from superfed.experiments.newcomers import meet_newcomers
from superfed.experiments.observer import Observer, Silent
from superfed.experiments.provenance import hardware
from superfed.experiments.results import Results
from superfed.experiments.schema import RunConfig
from superfed.store.files import remove_parts
from superfed.store.layout import ExperimentFolder, find_experiment
from superfed.store.lock import locked


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
    names = run_names(configs)
    folder.write_info(
        {
            "name": settings.get("name", "experiment"),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "data_root": None if data_root is None else str(data_root.absolute()),
            "runs": names,
        },
        settings,
    )
    with _opened(folder, names, assembler) as members:
        _train(members, observer or Silent())
    return out


def resume(path: Path, data_root: Path | None = None, observer: Observer | None = None) -> Path:
    """Go on with the unfinished runs at ``path``, an experiment's folder or a run's, from their last checkpoints."""
    folder, names = find_experiment(path)
    with _opened(folder, names, _assembler(folder, data_root)) as members:
        _train(members, observer or Silent())
    return folder.path


def reevaluate(
    path: Path, data_root: Path | None = None, lambdas: int | None = None, observer: Observer | None = None
) -> Path:
    """Evaluate every client anew from the last checkpoints, and write the results over the old ones."""
    folder, names = find_experiment(path)
    with _opened(folder, names, _assembler(folder, data_root)) as members:
        for member in members:
            if not member.run.finished:
                raise UserError(
                    f"{member.folder.path}: has done {member.run.round} of {member.run.task.schedule.rounds} rounds; "
                    f"finish it first with: superfed resume {path}"
                )
        with closing(_executor(members)) as executor:
            _evaluate_all(members, executor, observer or Silent(), lambdas)
    return folder.path


def load_run(path: Path, data_root: Path | None = None) -> tuple[Run, RunConfig]:
    """One run as its last checkpoint has it, to be used and not to be gone on with."""
    folder, names = find_experiment(path)
    if len(names) > 1:
        raise UserError(f"{path}: holds {len(names)} runs; name one of them, for instance {path / names[0]}")
    with _opened(folder, names, _assembler(folder, data_root)) as (member,):
        return member.run, member.config


def _train(members: Sequence[Member], observer: Observer) -> None:
    """Take every run to its end and evaluate those that have no results yet."""
    observer.started([member.folder.name for member in members], [member.run for member in members])
    with closing(_executor(members)) as executor:
        for member in members:
            member.folder.write_info(member.folder.info() | {"hardware": hardware(executor.device)})
        _follow([m for m in members if m.run.round == 0], executor)
        while not all(member.run.finished for member in members):
            _one_round([m for m in members if not m.run.finished], members, executor, observer)
        _evaluate_all([m for m in members if not m.has_results], executor, observer)


def _one_round(active: Sequence[Member], members: Sequence[Member], executor: Executor, observer: Observer) -> None:
    places = {id(member): place for place, member in enumerate(members)}
    runs = [member.run for member in active]
    with timed("training", active):
        for index in advance(runs, executor, lambda i: observer.lane_done(places[id(active[i])])):
            observer.round_done(places[id(active[index])])
    _follow(active, executor)
    with timed("checkpoints", active):
        for member in active:
            if member.checkpoint_is_due:
                member.save()


def _follow(members: Sequence[Member], executor: Executor) -> None:
    """Add to the accuracy curves of those that are due."""
    due = [member for member in members if member.curve_is_due]
    with timed("evaluation", due):
        for points in sorted({member.config.evaluation.lambdas for member in due}):
            group = [member for member in due if member.config.evaluation.lambdas == points]
            runs = [member.run for member in group]
            clients = [member.run.followed(member.config.evaluation.clients) for member in group]
            for run, scores in zip(runs, evaluate(runs, clients, executor, lambda_grid(points)), strict=True):
                run.add_to_curve(scores)


def _evaluate_all(
    members: Sequence[Member], executor: Executor, observer: Observer, lambdas: int | None = None
) -> None:
    """All clients at every λ; a run's results are on disk before the next one's begin."""
    observer.evaluating(sum(len(m.final_clients()) + len(m.run.task.newcomer_clients) for m in members))
    for member in members:
        run, clients, settings = member.run, member.final_clients(), member.config.evaluation
        grid = lambda_grid(lambdas or settings.lambdas)
        newcomers = None

        def one_more(_: int) -> None:
            observer.client_evaluated()

        with timed("final evaluation", [member]):
            (scores,) = evaluate([run], [clients], executor, grid, one_more)
            if run.task.newcomer_clients:
                newcomers = meet_newcomers(run, executor, grid, settings.newcomer_epochs, one_more)
        member.save_results(Results(clients, scores), newcomers)


def _executor(members: Sequence[Member]) -> Executor:
    engine = members[0].config.engine
    with named("engine"):
        return make_executor([member.run.task for member in members], engine.device, engine.workers)


@contextmanager
def _opened(folder: ExperimentFolder, names: Sequence[str], assembler: Assembler) -> Iterator[list[Member]]:
    """The named runs, restored, and nobody else's while the block lasts."""
    with locked(folder.path):
        remove_parts(folder.path)
        folder.complete()
        every = resolve(folder.info()["config"])
        configs = dict(zip(run_names(every), every, strict=True))
        yield [Member(folder.run(name), configs[name], assembler.task(configs[name])) for name in names]


def _assembler(folder: ExperimentFolder, data_root: Path | None) -> Assembler:
    """Data is looked for where it is said to be now, or else where it was when the experiment began."""
    stored = folder.info().get("data_root")
    return Assembler(data_root if data_root is not None or stored is None else Path(stored))
