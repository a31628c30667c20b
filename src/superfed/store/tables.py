"""Columns on disk: Parquet, which every data tool reads."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from numpy.typing import NDArray

from superfed.core.errors import UserError
from superfed.store.files import write_bytes

Columns = Mapping[str, Sequence[Any]]


def write_table(path: Path, columns: Columns, *, durable: bool = True) -> None:
    """Write columns of equal length, in one move."""
    buffer = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(dict(columns)), buffer, compression="zstd")
    write_bytes(path, buffer.getvalue().to_pybytes(), durable=durable)


def read_table(path: Path) -> dict[str, list[Any]]:
    try:
        columns: dict[str, list[Any]] = pyarrow.parquet.read_table(path).to_pydict()
    except FileNotFoundError as error:
        raise UserError(f"{path}: there is no such file") from error
    except (OSError, pyarrow.ArrowException) as error:
        raise UserError(f"{path}: cannot be read as Parquet ({error})") from error
    return columns


def read_arrays(path: Path, columns: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Some columns as arrays, quickly where there are many rows; what is missing in a column of numbers is NaN."""
    try:
        table = pyarrow.parquet.read_table(path, columns=list(columns))
        return {name: table[name].to_numpy() for name in columns}
    except FileNotFoundError as error:
        raise UserError(f"{path}: there is no such file") from error
    except (OSError, KeyError, pyarrow.ArrowException) as error:
        raise UserError(f"{path}: cannot be read as Parquet with columns {', '.join(columns)} ({error})") from error


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows with the same names, turned into columns."""
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
