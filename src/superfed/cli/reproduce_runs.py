"""The runs of a reproduction, made where they are missing, as few jobs; and the surfaces that are found from them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import typer
from rich.console import Console
from rich.text import Text

from superfed.cli.finish import failures_kept
from superfed.cli.interrupt import Heeding, stoppable
from superfed.cli.progress import watching
from superfed.reproduce.cells import PlannedRun
from superfed.reproduce.running import finished, in_jobs, run_all, split_by_data
from superfed.reproduce.scales import SURFACES, Scale
from superfed.reproduce.surveys import survey


def make(
    planned: Sequence[PlannedRun],
    scale: str,
    where: Path,
    again: str,
    engine: Mapping[str, Any],
    data_root: Path | None,
    console: Console,
) -> tuple[bool, list[str]]:
    """Whether all data was at hand, which is said at once if not; and what went wrong, to be said when all else is shown."""
    complaints = []
    here, missing = split_by_data([run for run in planned if finished(run, where) is None], data_root)
    for dataset, why in missing.items():
        typer.echo(f"superfed: {dataset} is left out: {why}", err=True)
    for job in in_jobs(here):
        with stoppable(where, again) as stop, failures_kept() as failures, watching(console) as observer:
            run_all(job, where, again, engine, data_root, Heeding(observer, stop))
        complaints += [str(failed) for failed in failures]
    surfaces = [run for run in planned if run.config.seed == 0 and any(cell.table == "figureA" for cell in run.cells)]
    with stoppable(where, again):
        complaints += survey(
            surfaces,
            where,
            SURFACES[cast(Scale, scale)],
            engine,
            data_root,
            lambda words: console.print(Text(words, style="dim")),
        )
    return not missing, complaints
