"""Datasets as the Hugging Face hub keeps them: parquet files, named by their split."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.data.files import Tick, silent

FOLDER = "hub"
ROWS = 1024


def hub_files(root: Path, repo: str, split: str = "train") -> tuple[Path, ...]:
    """The parquet files of one split of ``repo`` ("owner/name") under the data root, in order; none if it is not there."""
    return tuple(sorted((root / FOLDER / repo).rglob(f"{split}-*.parquet")))


def hub_rows(files: Sequence[Path], columns: Sequence[str], tick: Tick = silent) -> Iterator[dict[str, list[Any]]]:
    """The named columns, some rows at a time."""
    import pyarrow

    tables = [(path, _opened(path)) for path in files]
    total, done = sum(table.metadata.num_rows for _, table in tables), 0
    for path, table in tables:
        missing = [column for column in columns if column not in table.schema_arrow.names]
        if missing:
            there = ", ".join(table.schema_arrow.names)
            raise UserError(f"{path}: has no column '{missing[0]}', only {there}")
        try:
            for batch in table.iter_batches(ROWS, columns=list(columns)):
                yield batch.to_pydict()
                done += batch.num_rows
                tick(done, total)
        except (OSError, pyarrow.ArrowException) as error:
            raise UserError(f"{path}: is damaged ({error}); fetch it again") from error


def _opened(path: Path) -> Any:
    import pyarrow
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise UserError(f"{path}: cannot be read as Parquet ({error}); fetch it again") from error
