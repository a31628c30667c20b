"""Where the numbers of a cell come from, on the terminal."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Console
from rich.text import Text

from superfed.cli.reproduce_asked import named
from superfed.core.errors import require
from superfed.engine.checkpoint import newest
from superfed.reproduce.cells import Cell, PlannedRun
from superfed.reproduce.keeping import kept_records
from superfed.reproduce.paper import Plain
from superfed.reproduce.provenance import Made, facts
from superfed.reproduce.record import Record
from superfed.reproduce.running import folder_name
from superfed.store.layout import ExperimentFolder, RunFolder, as_yaml
from superfed.store.lock import nobody_holds


def show_cells(words: str, every: Sequence[Cell], scale: str, out: Path, kept: Path, console: Console) -> bool:
    """The runs of the cells with ``words`` in their names, those in ``out`` and those of which there are small files in
    ``kept`` alone; whether there are any."""
    found = named(words, every)
    require(bool(found), "--cell", f"no cell has '{words}' in its name; they look like {every[0].id}")
    files = kept_records({cell.table for cell in found}, scale, kept)
    some = False
    for cell in found:
        console.print(Text(cell.id, style="bold"))
        runs = _runs(cell, out / scale)
        here = {(made.folder, made.began) for made in (Made.of(run, cell.digest) for run in runs)}
        only_kept = [one for one in files.get(cell.id, ()) if (one.made.folder, one.made.began) not in here]
        for run in runs:
            _show(run, cell, scale, out, console)
        for record in only_kept:
            _show_kept(record, cell, scale, out, kept, console)
        if not runs and not only_kept:
            console.print(f"not run yet; run it with: {_command(cell, scale, out)}", highlight=False, soft_wrap=True)
        some = some or bool(runs) or bool(only_kept)
    return some


def _runs(cell: Cell, where: Path) -> list[RunFolder]:
    """Of every seed that there is."""
    stem = folder_name(PlannedRun(cell.config(), (cell,))).removesuffix("0")
    numbered = {
        int(match[1]): path
        for path in where.glob(f"{stem}*")
        if (match := re.fullmatch(rf"{re.escape(stem)}(\d+)", path.name))
    }
    folders = [ExperimentFolder(numbered[seed]) for seed in sorted(numbered)]
    return [run for folder in folders if not folder.is_free() for run in folder.runs() if run.exists()]


def _show(run: RunFolder, cell: Cell, scale: str, out: Path, console: Console) -> None:
    made, config = Made.of(run, cell.digest), run.config()
    experiment = ExperimentFolder(run.path.parent).info()
    told = {
        "folder": str(run.path),
        "status": _status(run),
        **facts(made),
        "command": _command(cell, scale, out, int(config["seed"]), experiment),
    }
    _print(told, config, console)


def _show_kept(record: Record, cell: Cell, scale: str, out: Path, kept: Path, console: Console) -> None:
    """Its folder lies elsewhere, or is gone."""
    told = {"kept": f"{kept / cell.table}.json, seed {record.seed}", **facts(record.made)}
    if record.earlier:
        told["in place of"] = ", ".join(f"one begun {one['made']['began']}" for one in record.earlier)
    if record.made.settings != cell.digest:
        told["config"] = f"another than this version's, whose settings are {cell.digest}"
        _print(told, None, console)
        return
    told["command"] = _command(cell, scale, out, record.seed, {"config": {"engine": record.made.engine}})
    config = cell.config(record.seed).as_plain()
    config |= {"name": record.made.folder.split("/")[0], "engine": config["engine"] | record.made.engine}
    _print(told, config, console)


def _print(told: Mapping[str, object], config: Plain | None, console: Console) -> None:
    for name, value in told.items():
        console.print(Text.assemble((f"  {name:<13}", "dim"), str(value)), soft_wrap=True, highlight=False)
    if config is None:
        return
    console.print(Text("  config", style="dim"))
    for line in as_yaml(config).splitlines():
        console.print(Text(f"    {line}"), soft_wrap=True, highlight=False)


def _status(run: RunFolder) -> str:
    """A run that says it is running only came to no end: a process that was stopped could not say so any more."""
    status = str(run.info()["status"])
    if status != "running" or not nobody_holds(run.path.parent):
        return status
    last = newest(run.checkpoints)
    if last is None:
        anew = "the command below begins it anew, or goes on with the --ray and --store that it was begun with"
        return f"stopped, and no checkpoint is here; {anew}"
    rounds = run.config()["training"]["rounds"]
    return f"stopped after {last.round} of {rounds} rounds; the command below goes on from there"


def _command(cell: Cell, scale: str, out: Path, seed: int = 0, experiment: Mapping[str, Any] | None = None) -> str:
    """What makes this run, or finds it made; how it is computed and where its data lies, as it was begun."""
    begun = experiment or {}
    config = begun.get("config")
    given = config.get("engine", {}) if isinstance(config, dict) else {}
    usual = cell.settings.get("engine", {})
    engine = [f"engine.{key}={value}" for key, value in given.items() if usual.get(key) != value]
    data = [f"--data-root {quote(str(begun['data_root']))}"] if begun.get("data_root") else []
    seeds = "1" if seed == 0 else f"{seed}-{seed}"
    rest = [f"--scale {scale} --only {cell.id} --seeds {seeds} --out {quote(str(out))}", *data]
    return " ".join(["superfed reproduce", cell.table, *engine, *rest])
