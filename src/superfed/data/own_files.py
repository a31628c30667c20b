"""Anyone's files: where they lie, and tables read from them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.data.own_columns import Chosen, NobodyError

LARGEST_BLOCK = 2**31 - 1
ROWS = 4096


def given_path(key: str, path: str, root: Path | None) -> Path:
    """``path`` as it is, or from the working directory, or from the data root: the first that is there."""
    given = Path(path).expanduser()
    places = [given] if root is None or given.is_absolute() else [given, root / given]
    found = next(filter(_exists, places), None)
    if found is None:
        looked_for = " and ".join(str(place.absolute()) for place in places)
        raise UserError(f"{key}: looked for {looked_for} and found nothing; give the path of your data")
    return found


def files_in(folder: Path, endings: Sequence[str]) -> tuple[str, list[Path]]:
    """The files of a folder that have one of these endings, by their names, and the ending: it must be the same for all."""
    try:
        files = sorted(path for path in folder.iterdir() if not path.name.startswith(".") and path.is_file())
    except OSError as error:
        raise _unreadable(folder, error) from error
    found = {ending: [path for path in files if path.suffix.lower() == ending] for ending in endings}
    some = [ending for ending in endings if found[ending]]
    if not some:
        raise UserError(f"{folder}: holds no {' or '.join(endings)} files; put yours there")
    if len(some) > 1:
        raise UserError(f"{folder}: holds {' and '.join(some)} files; keep one kind")
    return some[0], found[some[0]]


def read_table(path: Path, choose: Callable[[Any, str], Chosen]) -> tuple[Any, Chosen]:
    """The columns that ``choose`` picks, when it is shown the schema of a Parquet or CSV file and how to call it.

    A file without rows is a ``NobodyError``.
    """
    if path.suffix.lower() == ".csv":
        table = _read_csv(path)
        _not_empty(table.num_rows, path)
        return table, choose(table.schema, str(path))
    from pyarrow import Table
    from pyarrow.parquet import ParquetFile

    with _reading(path, "Parquet"), ParquetFile(path) as file:
        _not_empty(file.metadata.num_rows, path)
        chosen = choose(file.schema_arrow, str(path))
        # Long lists, read all at once, would take many times their memory.
        return Table.from_batches(list(file.iter_batches(ROWS, columns=chosen.every))), chosen


def _read_csv(path: Path) -> Any:
    """Text that is empty or NA is missing unless it is quoted, as numbers are anyway."""
    from pyarrow.csv import ConvertOptions, ReadOptions, read_csv

    with _reading(path, "CSV"):
        # One block, since the types of columns are guessed from the first.
        options = ReadOptions(block_size=min(max(path.stat().st_size, 1), LARGEST_BLOCK))
        missing = ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
        return read_csv(path, read_options=options, convert_options=missing)


def _not_empty(num_rows: int, path: Path) -> None:
    """Before columns are chosen, for without rows many have no type."""
    if num_rows == 0:
        raise NobodyError(str(path))


@contextmanager
def _reading(path: Path, what: str) -> Iterator[None]:
    import pyarrow

    try:
        yield
    except UserError:
        raise
    except (OSError, ValueError, pyarrow.ArrowException) as error:  # ValueError: names of columns that are no UTF-8
        reason = " ".join(str(error).split())
        raise UserError(f"{path}: cannot be read as {what} ({reason}); write it again") from error


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> UserError:
    return UserError(f"{path}: cannot be read: {error.strerror}")
