"""One column of anyone's table, whatever wrote it, as inputs, labels, parts or clients."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from superfed.core.errors import UserError
from superfed.data.arrays import Array, IntArray, read_inputs
from superfed.data.gathered import PARTS, as_kept
from superfed.data.labels import Labels, labels_of
from superfed.data.own_images import read_images


@dataclass(frozen=True, eq=False)
class Column:
    """``data`` is Arrow's, and ``where`` is how a sentence calls it. Nothing may be missing in it."""

    name: str
    data: Any
    where: str

    @classmethod
    def of(cls, table: Any, name: str, where: str) -> "Column":
        return cls(name, _plain(table.column(name)), f"{where}, column '{name}'")

    def checked(self) -> Any:
        if missing := self.data.null_count:
            raise UserError(f"{self.where}: holds nulls in {missing} of {len(self.data)} rows; fill or drop them")
        return self.data

    def text(self) -> Labels:
        """What it holds, as places among the different texts."""
        import pyarrow.compute as pc

        texts = pc.unique(self.checked())
        of: IntArray = pc.index_in(self.data, value_set=texts).to_numpy().astype(np.int64)
        return Labels(of, as_python(texts, self.where))

    def labels(self, limit: int | None) -> Labels:
        if is_text(self.data.type):
            return self.text()
        if not is_number(self.data.type):
            raise UserError(f"{self.where}: holds {self.data.type}, but a label is a whole number or a name")
        return labels_of(_numbers(self.checked()), self.where, limit)

    def parts(self) -> npt.NDArray[np.int8]:
        """Which part each sample was given for."""
        if not is_text(self.data.type):
            raise UserError(f"{self.where}: holds {self.data.type}, but a split is {_either(list(PARTS))}")
        text = self.text()
        names = text.names or ()
        unknown = next((name for name in names if name not in PARTS), None)
        if unknown is not None:
            raise UserError(f"{self.where}: holds '{unknown}', but a split is {_either(list(PARTS))}")
        return np.array([PARTS[name] for name in names], dtype=np.int8)[text.of]

    def number(self) -> Array:
        """Inputs of one number each: float32, or uint8 where they are bytes."""
        if not is_number(self.data.type):
            raise self._no_inputs(self.data.type)
        numbers = _numbers(self.checked())
        if numbers.dtype.kind == "i":  # a measure, where an array of them would be text
            numbers = numbers.astype(np.float64)
        return as_kept(read_inputs(numbers[:, None], self.where), self.where)

    def arrays(self) -> Array:
        """Inputs from lists, or lists of lists, of the same length."""
        import pyarrow

        data = self.checked()
        if isinstance(data.type, pyarrow.FixedShapeTensorType):
            every = [chunk.to_numpy_ndarray() for chunk in data.chunks]
        else:
            every = [self._unrolled(chunk) for chunk in data.chunks if len(chunk)]
        for lengths in zip(*(array.shape[1:] for array in every), strict=True):
            if min(lengths) != max(lengths):
                raise self._ragged(min(lengths), max(lengths))
        return as_kept(read_inputs(np.concatenate(every), self.where), self.where)

    def images(self, follow_paths: bool) -> Array:
        """Inputs from the files of images, as bytes or, where paths are followed, by their names."""
        cells = self.checked()
        return read_images(lambda: (_content(cell.as_py(), follow_paths) for cell in cells), len(cells), self.where)

    def _unrolled(self, lists: Any) -> Array:
        import pyarrow.compute as pc

        shape = [len(lists)]
        while _is_list(lists.type):
            lengths = pc.min_max(pc.list_value_length(lists))
            low, high = lengths["min"].as_py(), lengths["max"].as_py()
            if low != high:
                raise self._ragged(low, high)
            shape.append(low)
            lists = lists.flatten()
            if lists.null_count:
                raise UserError(f"{self.where}: holds lists with nulls inside; fill or drop them")
        if not is_number(lists.type):
            raise self._no_inputs(lists.type)
        return _numbers(lists).reshape(shape)

    def _ragged(self, low: int, high: int) -> UserError:
        return UserError(f"{self.where}: holds lists of {low} to {high} values; pad or cut them to one length")

    def _no_inputs(self, kind: Any) -> UserError:
        return UserError(f"{self.where}: holds {kind}, but inputs are numbers, lists of numbers or images")


def as_python(values: Any, where: str) -> list[Any]:
    try:
        return values.to_pylist()  # type: ignore[no-any-return]
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: holds text that is no UTF-8; write it again") from error


def is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def is_array(kind: Any) -> bool:
    import pyarrow

    return isinstance(kind, pyarrow.FixedShapeTensorType) or _is_list(_storage(kind))


def is_image(kind: Any) -> bool:
    """As Hugging Face keeps them: the bytes of a file beside its name."""
    from pyarrow import types

    return bool(types.is_struct(kind)) and kind.get_field_index("bytes") >= 0


def is_binary(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_binary(kind) or types.is_large_binary(kind))


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _storage(kind: Any) -> Any:
    import pyarrow

    return kind.storage_type if isinstance(kind, pyarrow.BaseExtensionType) else kind


def _plain(data: Any) -> Any:
    """Without the wrapping of other programs' types, and with repeated values written out."""
    import pyarrow
    from pyarrow import types

    if isinstance(data.type, pyarrow.BaseExtensionType) and not isinstance(data.type, pyarrow.FixedShapeTensorType):
        data = pyarrow.chunked_array([chunk.storage for chunk in data.chunks], data.type.storage_type)
    return data.cast(data.type.value_type) if types.is_dictionary(data.type) else data


def _numbers(data: Any) -> Array:
    import pyarrow
    from pyarrow import types

    if types.is_decimal(data.type):
        data = data.cast(pyarrow.float64())
    return np.asarray(data.to_numpy(zero_copy_only=False) if isinstance(data, pyarrow.Array) else data.to_numpy())


def _content(cell: Any, follow_paths: bool) -> bytes | None:
    content, path = (cell.get("bytes"), cell.get("path")) if isinstance(cell, dict) else (cell, None)
    if content is None and path is not None and follow_paths:
        with suppress(OSError):
            return Path(path).read_bytes()
    return content


def _either(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
