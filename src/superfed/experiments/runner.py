"""An experiment on disk: started, gone on with, evaluated."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.engine.simulation import Run
from superfed.experiments.assemble import Assembler
from superfed.experiments.failures import RunsFailed
from superfed.experiments.labels import run_names
from superfed.experiments.load import resolve
from superfed.experiments.logged import Logged
from superfed.experiments.member import Member
from superfed.experiments.observer import Observer, Silent
from superfed.experiments.orders import Order
from superfed.experiments.places import Here, Outcome, Place, local_executor
from superfed.experiments.schema import RunConfig
from superfed.experiments.together import Together
from superfed.store.files import remove_parts
from superfed.store.layout import ExperimentFolder, find_experiment
from superfed.store.lock import locked


def start(
    settings: dict[str, Any],
    out: Path,
    data_root: Path | None = None,
    observer: Observer | None = None,
    place: Place | None = None,
) -> Path:
    """Run every run that ``settings`` stand for, in a new folder ``out``, and return it.

    Runs fail alone: if any did, the others are there, and a ``RunsFailed`` says which and why. They are computed here, or
    at ``place``.
    """
    folder, assembler, where = ExperimentFolder(out), Assembler(data_root), place or Here()
    check(settings, folder, assembler, where)
    begin(settings, folder, data_root)
    with held(folder, folder.info()["runs"], assembler) as orders:
        train(orders, observer or Silent(), f"superfed resume {out}{where.options}", where)
    return out


def check(settings: dict[str, Any], folder: ExperimentFolder, assembler: Assembler, place: Place) -> None:
    """Every complaint there is, before the first file."""
    configs = resolve(settings)
    if not folder.is_free():
        out = folder.path
        raise UserError(
            f"{out}: is there already and not empty; choose another --out, or go on with: superfed resume {out}"
        )
    for config in configs:
        assembler.task(config)
        place.check(config.engine)


def begin(settings: dict[str, Any], folder: ExperimentFolder, data_root: Path | None) -> None:
    """The folder of an experiment that was checked."""
    folder.write_info(
        {
            "name": settings.get("name", "experiment"),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "data_root": None if data_root is None else str(data_root.absolute()),
            "runs": run_names(resolve(settings)),
        },
        settings,
    )


def resume(
    path: Path, data_root: Path | None = None, observer: Observer | None = None, place: Place | None = None
) -> Path:
    """Go on with the unfinished runs at ``path``, an experiment's folder or a run's, from their last checkpoints."""
    (folder, names), where = find_experiment(path), place or Here()
    with held(folder, names, _assembler(folder, data_root)) as orders:
        for order in orders:
            where.check(order.config.engine)
        train(orders, observer or Silent(), f"superfed resume {folder.path}{where.options}", where)
    return folder.path


def reevaluate(
    path: Path, data_root: Path | None = None, lambdas: int | None = None, observer: Observer | None = None
) -> Path:
    """Evaluate every client anew from the last checkpoints, and write the results over the old ones."""
    folder, names = find_experiment(path)
    with opened(folder, names, _assembler(folder, data_root)) as members:
        for member in members:
            if not member.run.finished:
                raise UserError(
                    f"{member.folder.path}: has done {member.run.round} of {member.run.task.schedule.rounds} rounds; "
                    f"finish it first with: superfed resume {path}"
                )
        told = Logged(members, observer or Silent())
        with closing(local_executor(members, told)) as executor:
            together = Together(members, executor, told)
            together.evaluate(members, lambdas)
        _complain(len(members), Outcome(together.failed, together.error), f"superfed resume {folder.path}")
    return folder.path


def load_run(path: Path, data_root: Path | None = None) -> tuple[Run, RunConfig]:
    """One run as its last checkpoint has it, to be used and not to be gone on with."""
    folder, names = find_experiment(path)
    if len(names) > 1:
        raise UserError(f"{path}: holds {len(names)} runs; name one of them, for instance {path / names[0]}")
    with opened(folder, names, _assembler(folder, data_root)) as (member,):
        return member.run, member.config


def train(orders: Sequence[Order], observer: Observer, again: str, place: Place) -> None:
    """Take every run to its end; complain of those that failed when all others are there."""
    _complain(len(orders), place.train(orders, observer), again)


def _complain(total: int, outcome: Outcome, again: str) -> None:
    if outcome.failed:
        raise RunsFailed(again, total, outcome.failed) from outcome.error


@contextmanager
def held(
    folder: ExperimentFolder, names: Sequence[str], assembler: Assembler, title: str | None = None
) -> Iterator[list[Order]]:
    """The named runs, nobody else's while the block lasts."""
    with locked(folder.path):
        remove_parts(folder.path)
        folder.complete()
        every = resolve(folder.info()["config"])
        configs = dict(zip(run_names(every), every, strict=True))
        titles = {name: title if len(names) == 1 else f"{title}/{name}" for name in names if title is not None}
        yield [
            Order(folder.run(name), configs[name], assembler.task(configs[name]), titles.get(name, name))
            for name in names
        ]


@contextmanager
def opened(folder: ExperimentFolder, names: Sequence[str], assembler: Assembler) -> Iterator[list[Member]]:
    """The named runs, restored, and nobody else's while the block lasts."""
    with held(folder, names, assembler) as orders:
        members = [Member(order) for order in orders]
        for member in members:
            if member.has_results and not member.run.finished:
                raise UserError(
                    f"{member.folder.path}: has its results and no models any more (engine.keep_models: false, or its "
                    "checkpoints were removed)"
                )
        yield members


def _assembler(folder: ExperimentFolder, data_root: Path | None) -> Assembler:
    """Data is looked for where it is said to be now, or else where it was when the experiment began."""
    stored = folder.info().get("data_root")
    return Assembler(data_root if data_root is not None or stored is None else Path(stored))
