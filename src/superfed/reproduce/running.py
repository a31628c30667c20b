"""The runs behind tables, on disk: each once, wherever it is needed, gone on with where it was."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.experiments.assemble import Assembler
from superfed.experiments.load import apply_overrides
from superfed.experiments.observer import Observer
from superfed.experiments.several import has_results, run_several
from superfed.reproduce.cells import PlannedRun
from superfed.reproduce.compare import Summary
from superfed.store.layout import ExperimentFolder


def folder_name(run: PlannedRun) -> str:
    """By what is computed, not by the table it was asked for: another table may need the same run."""
    cell = run.cells[0]
    digest = sha256(json.dumps(cell.settings, sort_keys=True).encode()).hexdigest()[:8]
    return f"{cell.dataset}-{cell.method}-{digest}-seed{run.config.seed}"


def split_by_data(runs: Sequence[PlannedRun], data_root: Path | None) -> tuple[list[PlannedRun], dict[str, str]]:
    """Those runs whose data are at hand, and for each dataset that is not, why."""
    assembler, missing, here = Assembler(data_root), dict[str, str](), []
    for run in runs:
        dataset = run.cells[0].dataset
        if dataset in missing:
            continue
        try:
            assembler.data(run.config)
        except UserError as error:
            missing[dataset] = str(error)
        else:
            here.append(run)
    return here, missing


def engine_settings(changes: Sequence[str]) -> dict[str, Any]:
    """From words such as ``engine.state=disk``: only how it is computed may be changed, not what."""
    for change in changes:
        if not change.startswith("engine."):
            raise UserError(f"{change}: only engine.KEY=VALUE may be given, since the paper says the rest")
    settings: dict[str, Any] = apply_overrides({}, list(changes)).get("engine", {})
    return settings


def run_all(
    runs: Sequence[PlannedRun],
    out: Path,
    again: str,
    engine: Mapping[str, Any] | None = None,
    data_root: Path | None = None,
    observer: Observer | None = None,
) -> None:
    """All of them as one job; ``engine`` are settings of how they are computed, and ``again`` is this command."""
    wanted = {}
    for run in runs:
        name = folder_name(run)
        settings = run.settings | {"name": name}
        if engine:
            settings["engine"] = {**settings.get("engine", {}), **engine}
        stored = ExperimentFolder(out / name)
        wanted[name] = settings if stored.is_free() else stored.info()["config"]  # how it began is how it goes on
    run_several(wanted, out, again, data_root, observer)


def summaries(runs: Iterable[PlannedRun], out: Path) -> dict[str, list[Summary]]:
    """For each cell what its finished runs say of themselves, in the order of ``runs``."""
    found: dict[str, list[Summary]] = {}
    for run in runs:
        folder = ExperimentFolder(out / folder_name(run))
        if folder.is_free() or not has_results(folder):
            continue
        (only,) = folder.runs()
        summary = only.summary()
        if summary is not None:
            for cell in run.cells:
                found.setdefault(cell.id, []).append(summary)
    return found
