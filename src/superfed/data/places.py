"""Where a dataset's files may lie: in the usual folders, or as the hub keeps them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from superfed.data.files import FileDataset, Found
from superfed.data.hub import FOLDER as HUB
from superfed.data.hub import hub_files
from superfed.data.missing import is_file, missing_files


def look_for(
    dataset: FileDataset[Any], root: Path, candidates: Sequence[Sequence[Path]], folder: Path, source: str
) -> Found:
    """For each file the first of its candidates that is there; failing that, the hub's files."""
    found = [next(filter(is_file, paths), None) for paths in candidates]
    files = tuple(path for path in found if path is not None)
    if len(files) == len(candidates):
        return Found("files", files)
    if dataset.hub is not None and (files := hub_files(root, dataset.hub)):
        return Found("hub", files)
    missing = [path for paths, there in zip(candidates, found, strict=True) if there is None for path in paths]
    hub = None if dataset.hub is None else root / HUB / dataset.hub
    raise missing_files(dataset.key, missing, folder, source, hub)
