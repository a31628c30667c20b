"""The loss surfaces of finished runs, computed once from their last checkpoints and stored beside them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import torch

from superfed.core.errors import UserError
from superfed.engine.executors import check_engine
from superfed.engine.simulation import Run
from superfed.experiments.runner import load_run
from superfed.experiments.surface import Span, joint_window, surface_of, three_of
from superfed.reproduce.cells import PlannedRun
from superfed.reproduce.landscape import Landscape
from superfed.reproduce.paper import Plain
from superfed.reproduce.running import states
from superfed.store.files import read_json, write_json
from superfed.store.layout import RunFolder

View = Literal["personal", "updates", "own"]
SPANS: dict[View, Span] = {"personal": "personal", "updates": "updates", "own": "personal"}
"""``own`` is the plane of ``personal``, with the loss on the samples of the two clients whose models span it."""
FILE = "surfaces.json"
SCHEMA = 1


def surveyed(run: RunFolder) -> dict[str, Landscape]:
    """The surfaces that are stored beside a run, by view."""
    return {view: Landscape(**one) for view, one in _stored(run)["surfaces"].items()}


def survey(
    runs: Sequence[PlannedRun],
    out: Path,
    size: tuple[int, int],
    engine: Mapping[str, Any] | None = None,
    data_root: Path | None = None,
    tell: Callable[[str], None] = lambda words: None,
) -> list[str]:
    """Compute what is missing of the runs' surfaces, all through one window; what could not be had, in sentences.

    ``size`` is how many points a side has, and how many clients' samples the loss is taken on; ``tell`` hears of each
    surface before it is computed.
    """
    heard = list[str]()  # of damaged files, which who reads the records tells of
    folders = [folder for _, folder in states(runs, out, heard.append) if folder is not None]
    names = [folder.path.parent.name for folder in folders]
    complaints, loaded = [], {}
    try:
        if all(_is_complete(folder, names) for folder in folders):
            return []
        for folder in folders:
            try:
                run, config = load_run(folder.path, data_root)
                loaded[folder] = run, config.engine.device
            except UserError as error:
                complaints.append(f"no loss surface of {folder.path.parent.name}: {error}")
        _survey(loaded, size, engine or {}, tell)
    except UserError as error:
        complaints.append(f"loss surfaces are missing: {error}")
    return complaints


def _survey(
    runs: Mapping[RunFolder, tuple[Run, str]],
    size: tuple[int, int],
    engine: Mapping[str, Any],
    tell: Callable[[str], None],
) -> None:
    if not runs:
        return
    names, (points, clients) = [folder.path.parent.name for folder in runs], size
    stored = {folder: _stored(folder) for folder in runs}
    for file in stored.values():
        if not set(names) <= set(file["beside"]):  # it was seen through another window
            file |= {"beside": names, "surfaces": {}}
    for view, span in SPANS.items():
        threes = {folder: three_of(run, span=span) for folder, (run, _) in runs.items()}
        window = joint_window(list(threes.values()))
        for folder, (run, device) in runs.items():
            if view in stored[folder]["surfaces"] or (view == "own" and not _mixes(run)):
                continue
            tell(f"loss surface of {run.task.algorithm.title} ({view})")
            surface = surface_of(
                run,
                three=threes[folder],
                samples_of=threes[folder].clients if view == "own" else run.task.some_members("surface", clients),
                points=points,
                window=window,
                device=_place(engine.get("device"), device),
            )
            stored[folder]["surfaces"][view] = asdict(Landscape.of(surface))
            views = set(stored[folder]["surfaces"])
            stored[folder]["complete"] = views >= {name for name in SPANS if name != "own" or _mixes(run)}
            write_json(folder.path / FILE, stored[folder])


def _mixes(run: Run) -> bool:
    return run.task.algorithm.mixes


def _is_complete(folder: RunFolder, names: Sequence[str]) -> bool:
    file = _stored(folder)
    return bool(file["complete"]) and set(names) <= set(file["beside"])


def _stored(folder: RunFolder) -> Plain:
    """``beside`` are the runs through whose common window the surfaces are seen."""
    path = folder.path / FILE
    if not path.exists():
        return {"schema": SCHEMA, "beside": [], "complete": False, "surfaces": {}}
    file: Plain = read_json(path)
    schema = file.get("schema") if isinstance(file, dict) else None
    if schema != SCHEMA:
        raise UserError(f"{path}: has schema {schema}, and this program reads schema {SCHEMA}")
    return file


def _place(asked: str | None, begun: str) -> torch.device:
    """Where the run was computed if nothing else is asked for, and if this machine has such a device."""
    device = asked or begun
    try:
        check_engine(device, 1)
    except UserError:
        if asked is not None:
            raise
        device = "auto"
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(device)
