"""Which cells were asked for, in what order they are run, and what is shown in the end."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

from rich.console import Console

from superfed.core.errors import SettingError, require
from superfed.reproduce.cells import Cell, PlannedRun, cells
from superfed.reproduce.compare import compare
from superfed.reproduce.latex import latex
from superfed.reproduce.page import page
from superfed.reproduce.published import published
from superfed.reproduce.running import summaries
from superfed.reproduce.scales import IN_WORDS, Scale
from superfed.reproduce.terminal import show
from superfed.store.files import write_text


def chosen(target: str, scale: str, only: str | None, seeds: int) -> list[Cell]:
    tables = published().tables
    if target not in tables:
        raise SettingError("TABLE", f"'{target}' is none; choose from {', '.join(tables)}")
    if scale not in get_args(Scale):
        raise SettingError("--scale", f"must be {', '.join(get_args(Scale))}, not '{scale}'")
    require(seeds >= 1, "--seeds", f"must be 1 or more, not {seeds}")
    every = cells(target, cast(Scale, scale))
    if only is None:
        return every
    words = [word.strip() for word in only.split(",") if word.strip()]
    found = [cell for cell in every if any(word in cell.id for word in words)]
    require(bool(found), "--only", f"no cell of {target} has '{only}' in its name; they look like {every[0].id}")
    return found


def in_jobs(runs: Sequence[PlannedRun]) -> list[list[PlannedRun]]:
    """A dataset after another, so that not all clients' models are held at once."""
    jobs: dict[str, list[PlannedRun]] = {}
    for run in runs:
        jobs.setdefault(run.cells[0].dataset, []).append(run)
    return list(jobs.values())


def show_tables(target: str, scale: str, runs: Sequence[PlannedRun], where: Path, console: Console) -> None:
    """Every line of what was asked for in the terminal, as a page and as LaTeX."""
    asked = {cell.id for run in runs for cell in run.cells}
    lines = [line for line in compare(target, summaries(runs, where)) if line.cell in asked]
    shorter = "" if scale == "full" else f" ({scale}: {IN_WORDS[cast(Scale, scale)]})"
    title = f"{target.capitalize()}: {published().tables[target].title}{shorter}"
    if not lines:
        console.print("Nothing that was run has a number in print.")
        return
    show(title, lines, console)
    for path, text in (
        (where / f"{target}.html", page({title: lines})),
        (where / f"{target}.tex", latex(title, lines)),
    ):
        write_text(path, text)
        console.print(f"{'page' if path.suffix == '.html' else 'LaTeX'}: {path}", highlight=False, soft_wrap=True)
