"""The runs behind tables, on disk: each once, wherever it is needed, gone on with where it was."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

from superfed.core.errors import UserError
from superfed.experiments.assemble import Assembler
from superfed.experiments.load import apply_overrides
from superfed.experiments.observer import Observer
from superfed.experiments.places import Place
from superfed.experiments.schema import EngineConfig
from superfed.experiments.several import has_results, run_several
from superfed.experiments.strict import build
from superfed.reproduce.cells import PlannedRun, cells
from superfed.reproduce.scales import Scale
from superfed.store.layout import ExperimentFolder, RunFolder


def folder_name(run: PlannedRun) -> str:
    """By what is computed, not by the table it was asked for: another table may need the same run."""
    cell = run.cells[0]
    return f"{cell.dataset}-{cell.method}-{cell.digest}-seed{run.config.seed}"


def finished(run: PlannedRun, out: Path) -> RunFolder | None:
    """The run's folder, if it came to its end."""
    folder = ExperimentFolder(out / folder_name(run))
    if folder.is_free() or not has_results(folder):
        return None
    (only,) = folder.runs()
    return only


def states(
    runs: Sequence[PlannedRun], out: Path, tell: Callable[[str], None]
) -> Iterator[tuple[PlannedRun, RunFolder | None]]:
    """Each run with its folder, if it came to its end; ``tell`` hears of those whose files say neither, which are left out."""
    for run in runs:
        try:
            folder = finished(run, out)
        except UserError as error:
            tell(f"{error}; remove {out / folder_name(run)} to have it made anew")
        else:
            yield run, folder


def in_jobs(runs: Sequence[PlannedRun]) -> list[list[PlannedRun]]:
    """A dataset after another, so that not all clients' models are held at once."""
    jobs: dict[str, list[PlannedRun]] = {}
    for run in runs:
        jobs.setdefault(run.cells[0].dataset, []).append(run)
    return list(jobs.values())


def split_by_data(
    runs: Sequence[PlannedRun], data_root: Path | None
) -> tuple[list[PlannedRun], dict[str, list[PlannedRun]]]:
    """Those runs whose data are at hand, and by why they are not those whose are not, each of one dataset."""
    missing, here = dict[str, list[PlannedRun]](), []
    for job in in_jobs(runs):
        assembler = Assembler(data_root)  # one dataset's: all of them at once may not fit
        for run in job:
            try:
                assembler.data(run.config)
            except UserError as error:
                missing.setdefault(str(error), []).append(run)
            else:
                here.append(run)
    return here, missing


def engine_settings(changes: Sequence[str]) -> dict[str, Any]:
    """From words such as ``engine.state=disk``: only how it is computed may be changed, not what."""
    for change in changes:
        if not change.startswith("engine."):
            raise UserError(f"{change}: only engine.KEY=VALUE may be given, since the paper says the rest")
    settings: dict[str, Any] = apply_overrides({}, list(changes)).get("engine", {})
    build(EngineConfig, settings, "engine")  # says what is wrong with them, before anything is run
    return settings


def is_begun(run: PlannedRun, out: Path) -> bool:
    return not ExperimentFolder(out / folder_name(run)).is_free()


def begun_otherwise(runs: Sequence[PlannedRun], out: Path, engine: Mapping[str, Any]) -> list[PlannedRun]:
    """Those that lie there unfinished and go on as they began, with other settings of how they are computed than these."""
    found = []
    for run in runs:
        stored = ExperimentFolder(out / folder_name(run))
        if not stored.is_free():
            own, asked = stored.info()["config"].get("engine", {}), _engine(run, engine)
            found += [run] if _resolved(own) != _resolved(own | asked) else []
    return found


def _resolved(engine: Mapping[str, Any]) -> object:
    """What is said beside what is not."""
    return build(EngineConfig, dict(engine), "engine")


@cache
def _drawn() -> frozenset[str]:
    """The digests of Figure A's cells, at any scale."""
    return frozenset(cell.digest for scale in get_args(Scale) for cell in cells("figureA", scale))


def needs_models(run: PlannedRun) -> bool:
    """Whether Figure A goes through its models, though it may be made for another table now."""
    return run.config.seed == 0 and run.cells[0].digest in _drawn()


def _engine(run: PlannedRun, engine: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that are meant for the run: models that are drawn are kept."""
    return {key: value for key, value in engine.items() if key != "keep_models" or not needs_models(run)}


def run_all(
    runs: Sequence[PlannedRun],
    out: Path,
    again: str,
    engine: Mapping[str, Any] | None = None,
    data_root: Path | None = None,
    observer: Observer | None = None,
    place: Place | None = None,
) -> None:
    """All of them as one job; ``engine`` are settings of how they are computed, and ``again`` is this command."""
    wanted = {}
    for run in runs:
        name = folder_name(run)
        settings = run.settings | {"name": name}
        if engine:
            settings["engine"] = _engine(run, settings.get("engine", {}) | engine)
        stored = ExperimentFolder(out / name)
        wanted[name] = settings if stored.is_free() else stored.info()["config"]  # how it began is how it goes on
    run_several(wanted, out, again, data_root, observer, place)
