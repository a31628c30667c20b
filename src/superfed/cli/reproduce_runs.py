"""The runs of a reproduction, made where they are missing, as few jobs; and the surfaces that are found from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import typer
from rich.console import Console
from rich.text import Text

from superfed.cli.finish import failures_kept
from superfed.cli.interrupt import Heeding, stoppable
from superfed.cli.progress import watching
from superfed.cli.reproduce_plan import in_bytes
from superfed.core.errors import UserError
from superfed.engine.executors import check_engine
from superfed.experiments.places import Here, Place
from superfed.reproduce.cells import PlannedRun
from superfed.reproduce.parts import PARTS, TARGET
from superfed.reproduce.room import room_at, room_for
from superfed.reproduce.running import (
    begun_otherwise,
    folder_name,
    in_jobs,
    is_begun,
    run_all,
    split_by_data,
    states,
)
from superfed.reproduce.scales import SURFACES, Scale
from superfed.reproduce.surveys import survey
from superfed.reproduce.targets import name_of


@dataclass(frozen=True)
class Job:
    """How runs are made: ``again`` is the command that goes on with them, ``engine`` are settings of how."""

    scale: str
    where: Path
    again: str
    engine: Mapping[str, Any]
    data_root: Path | None
    place: Place


def make(planned: Sequence[PlannedRun], job: Job, console: Console) -> list[str]:
    """What went wrong, to be said when all else is shown. That data is not at hand is said at once too."""
    if isinstance(job.place, Here):
        check_engine(str(job.engine.get("device", "auto")), 1)  # before any data is read
    complaints = list[str]()
    unfinished = [run for run, folder in states(planned, job.where, complaints.append) if folder is None]
    here, missing = split_by_data(unfinished, job.data_root)
    for why, runs in missing.items():
        what = left_out(runs, here)
        typer.echo(f"superfed: {what} is left out: {why}{_hint(runs)}", err=True)
        complaints.append(f"{what} was left out; why is said above")
    otherwise = begun_otherwise(here, job.where, job.engine)
    if otherwise:
        names = ", ".join(folder_name(run) for run in otherwise)
        words = f"begun with other engine settings, and going on with these: {names}; remove them to begin anew"
        console.print(Text(words, style="dim"))
    jobs = in_jobs(here) if isinstance(job.place, Here) else [here] if here else []
    _warn_of_room(jobs, job)
    for some in jobs:
        with stoppable(job.where, job.again) as stop, failures_kept() as failures, watching(console) as observer:
            try:
                run_all(some, job.where, job.again, job.engine, job.data_root, Heeding(observer, stop), job.place)
            except UserError as error:  # such as another process at work there: other datasets' runs can be made
                complaints.append(str(error))
        complaints += [str(failed) for failed in failures]
    surfaces = [run for run in planned if run.config.seed == 0 and any(cell.table == "figureA" for cell in run.cells)]
    with stoppable(job.where, job.again):
        complaints += survey(
            surfaces,
            job.where,
            SURFACES[cast(Scale, job.scale)],
            job.engine,
            job.data_root,
            lambda words: console.print(Text(words, style="dim")),
        )
    return complaints


def _warn_of_room(jobs: Sequence[Sequence[PlannedRun]], job: Job) -> None:
    """Hours before a disk is full; what begun runs have is there already.

    How many runs other machines compute at once is not known: some may join or leave while it goes on.
    """
    keep, in_place = job.engine.get("keep_models", True), job.place.in_place
    new = [[run for run in some if not is_begun(run, job.where)] for some in jobs]
    needed, free = room_for(new, keep, in_place=in_place), room_at(job.where)
    if needed > free:
        most = " if all are computed at once" if in_place and not keep and not isinstance(job.place, Here) else ""
        less = "; engine.keep_models=false keeps results alone" if keep else ""
        words = f"these runs' models take {in_bytes(needed)}{most}, and {job.where} has {in_bytes(free)} free{less}"
        typer.echo(f"superfed: {words}", err=True)


def left_out(missing: Sequence[PlannedRun], here: Sequence[PlannedRun]) -> str:
    """What is missing: the runs' dataset, and of which tables where others have what they need of it."""
    dataset = missing[0].cells[0].dataset
    if all(cell.dataset != dataset for run in here for cell in run.cells):
        return dataset
    tables = dict.fromkeys(name_of(cell.table) for run in missing for cell in run.cells)
    return f"{dataset} of {', '.join(tables)}"


def _hint(missing: Sequence[PlannedRun]) -> str:
    """That a part may do where the whole is not to be had, to who asked for the whole."""
    places = {part.place.split("/")[1] for part in PARTS}
    whole = any(cell.dataset in places and cell.table != TARGET for run in missing for cell in run.cells)
    return f"; superfed reproduce {TARGET} takes a part of it" if whole else ""
