"""What a reader is told when a dataset's files are not there."""

from collections.abc import Sequence
from pathlib import Path

from superfed.core.errors import UserError

SET_ROOT = "the data root is set by SUPERFED_DATA or --data-root"


def root_or_error(name: str, root: Path | None, folder: str, source: str) -> Path:
    """The data root; a dataset that lies on disk cannot do without."""
    if root is None:
        raise UserError(
            f"{name}: no data root is set; put the files of {source} in the folder {folder} of any folder you like, "
            "and name that one by SUPERFED_DATA or --data-root"
        )
    return root


def missing_files(
    name: str, looked_for: Sequence[Path], folder: Path, source: str, hub: Path | None = None
) -> UserError:
    """All the paths that were tried, where the files come from and where they go; ``hub`` is the hub's folder."""
    places, fetch = ", ".join(str(path) for path in looked_for), ""
    if hub is not None:
        places, fetch = f"{places} and in {hub}", f"run superfed data fetch {name}, or "
    return UserError(
        f"{name}: looked for {places} and found nothing; {fetch}get the files of {source} and put them in {folder} "
        f"({SET_ROOT})"
    )


def is_file(path: Path) -> bool:
    """A folder that may not be entered is worth a sentence of its own, not a missing file."""
    try:
        return path.is_file()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
