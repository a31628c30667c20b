"""Which columns of anyone's table are inputs, labels, parts and clients; the same for Parquet, CSV and Hugging Face."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from superfed.core.errors import UserError, require
from superfed.data.arrays import Array
from superfed.data.gathered import Piece, in_order
from superfed.data.labels import Labels
from superfed.data.own_column import Column, as_python, is_array, is_binary, is_image, is_number, is_text
from superfed.data.pool import Owners


class NobodyError(UserError):
    """A table without rows."""

    def __init__(self, where: str) -> None:
        super().__init__(f"{where}: holds no samples; leave it out")


def all_different(**names: str | None) -> None:
    """Nothing can be two things: settings that name columns or arrays must not name the same one."""
    used: list[str] = []
    for setting, name in names.items():
        if name is not None:
            require(name not in used, setting, f"'{name}' is already used for something else")
            used.append(name)


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are for."""

    label: str | None
    """Without it, the table has inputs alone."""
    inputs: str | None = None
    """Without it, the one column that holds images or lists or, where none does, all other columns of numbers."""
    split: str | None = None
    others: tuple[str, ...] = ()
    """No inputs, though they may be numbers."""

    def choose(self, schema: Any, where: str) -> "Chosen":
        """The columns of a table with this schema."""
        special = [name for name in (self.label, self.split, *self.others) if name is not None]
        _must_have(special, schema, where)
        inputs = [self.inputs] if self.inputs is not None else _inputs(schema, special, where)
        _must_have(inputs, schema, where)
        return Chosen(self.label, self.split, tuple(inputs), [*special, *inputs])


class Inputs(NamedTuple):
    x: Array
    columns: Sequence[str] | None = None
    """Those that stand side by side in ``x``, where it was made of several."""
    images: bool = False


@dataclass(frozen=True)
class Chosen:
    label: str | None
    split: str | None
    inputs: Sequence[str]
    every: list[str]
    """All that must be read."""

    def piece(self, table: Any, where: str, limit: int | None = None, follow_paths: bool = False) -> Piece:
        """The samples of a table; labels that are numbers must be below ``limit`` where there is one."""
        if table.num_rows == 0:
            raise NobodyError(where)
        labels = self.labels_in(table, where, limit)
        assert labels is not None, "who wants samples to learn from names their label"
        parts = None if self.split is None else Column.of(table, self.split, where).parts()
        inputs = self.inputs_in(table, where, follow_paths)
        return Piece(where, inputs.x, labels, parts, inputs.columns, inputs.images)

    def labels_in(self, table: Any, where: str, limit: int | None = None) -> Labels | None:
        return None if self.label is None else Column.of(table, self.label, where).labels(limit)

    def inputs_in(self, table: Any, where: str, follow_paths: bool = False) -> Inputs:
        columns = [Column.of(table, name, where) for name in self.inputs]
        kind = columns[0].data.type
        if is_image(kind) or is_binary(kind):
            return Inputs(columns[0].images(follow_paths), images=True)
        if is_array(kind):
            return Inputs(columns[0].arrays())
        return Inputs(_side_by_side(columns), self.inputs)


def owners_in(columns: Sequence[Column]) -> Owners:
    """Whose the rows of these columns are, one column after the other."""
    import pyarrow
    import pyarrow.compute as pc

    first, kind = columns[0], _kind_of_clients(columns[0])
    for column in columns:
        if _kind_of_clients(column) != kind:
            raise UserError(
                f"{column.where}: holds {column.data.type}, but {first.where}, holds {first.data.type}; "
                "use one kind for all"
            )
    data = pyarrow.chunked_array([c for column in columns for c in column.checked().cast(kind).chunks], kind)
    names = sorted(as_python(pc.unique(data), first.where), key=in_order if is_text(kind) else None)
    return Owners([str(name) for name in names], pc.index_in(data, value_set=pyarrow.array(names, kind)).to_numpy())


def _kind_of_clients(column: Column) -> Any:
    """One type for all widths of whole numbers, and one for all kinds of text."""
    import pyarrow

    kind = column.data.type
    if is_text(kind):
        return pyarrow.large_string()
    if not pyarrow.types.is_integer(kind):
        raise UserError(f"{column.where}: holds {kind}, but a client is a name or a whole number")
    return kind if pyarrow.types.is_uint64(kind) else pyarrow.int64()


def _must_have(names: Sequence[str], schema: Any, where: str) -> None:
    there: list[str] = list(schema.names)
    for name in names:
        if name not in there:
            raise UserError(f"{where}: has no column '{name}', only {', '.join(there) or 'none'}")
        if there.count(name) > 1:
            raise UserError(f"{where}: has two columns '{name}'; rename one")


def _inputs(schema: Any, special: Sequence[str], where: str) -> list[str]:
    index = [name for name in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(name, str)]
    # Pandas writes its index into CSV as a column without a name.
    rest = [field for field in schema if field.name not in ("", *special, *index)]
    rich = [field.name for field in rest if is_image(field.type) or is_array(field.type)]
    if len(rich) > 1:
        raise UserError(f"{where}: holds images or lists in {', '.join(rich)}; choose one by inputs")
    found = rich or [field.name for field in rest if is_number(field.type)]
    if not found:
        there = ", ".join(field.name for field in rest) or "nothing"
        raise UserError(
            f"{where}: has no inputs: besides {', '.join(special)} it has {there}, and none of it is numbers, lists "
            "or images"
        )
    return found


def _side_by_side(columns: Sequence[Column]) -> Array:
    """A row of numbers per sample: bytes if all are, float32 otherwise."""
    arrays = [column.number() for column in columns]
    kept = np.uint8 if all(array.dtype == np.uint8 for array in arrays) else np.float32
    return np.concatenate(arrays, axis=1, dtype=kept)
