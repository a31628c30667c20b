"""Labels as people have them: numbers of classes, or the names of classes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from torch import Tensor

from superfed.core.errors import SettingError, UserError, require
from superfed.data.arrays import IntArray, read_labels
from superfed.data.checks import whole


@dataclass(frozen=True, eq=False)
class Labels:
    """For each sample the number of its class or, where there are ``names``, the place of its class among them."""

    of: IntArray
    names: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.of)


class Classes(NamedTuple):
    how_many: int
    names: Sequence[str] | None


def labels_of(value: object, where: str, limit: int | None = None) -> Labels:
    """``value``, which is not empty, as labels; numbers must be below ``limit`` where there is one."""
    text = _text(value, where)
    if text is None:
        return Labels(read_labels(value, where, limit))
    if text.ndim != 1:
        raise UserError(f"{where}: the labels have shape {text.shape}, but must be one name per sample")
    names, of = np.unique(text, return_inverse=True)
    return Labels(of.astype(np.int64, copy=False), names.tolist())


def class_limit(num_classes: int | None, class_names: Sequence[str] | None) -> int | None:
    """How many classes there may be, as far as it was said; what was said is checked."""
    if num_classes is not None:
        whole("num_classes", num_classes, least=1)
    if class_names is None:
        return num_classes
    listed = isinstance(class_names, Iterable) and not isinstance(class_names, str)
    names = list(class_names) if listed else []
    if not names or not all(isinstance(name, str) for name in names):
        raise SettingError("class_names", f"must be a list with the name of every class, got {class_names!r}")
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    require(twice is None, "class_names", f"names '{twice}' twice")
    if num_classes is not None and num_classes < len(names):
        raise SettingError("num_classes", f"{num_classes} classes cannot have {len(names)} names")
    return num_classes or len(names)


def agree(
    every: Sequence[tuple[str, Labels]],
    num_classes: int | None = None,
    class_names: Sequence[str] | None = None,
) -> tuple[list[IntArray], Classes]:
    """Everybody's labels as numbers of the same classes; each comes with how a sentence would call it.

    Names are numbered in the order of ``class_names``, or sorted.
    """
    first, model = every[0]
    for where, labels in every:
        if (labels.names is None) != (model.names is None):
            raise UserError(
                f"{where}: its labels are {_kind(labels)}, but those of {first} are {_kind(model)}; use one kind for all"
            )
    if model.names is None:
        count = class_limit(num_classes, class_names) or 1 + max(int(labels.of.max()) for _, labels in every)
        return [labels.of for _, labels in every], Classes(count, None if class_names is None else list(class_names))
    if num_classes is not None and class_names is None:
        raise SettingError(
            "num_classes", "the labels are names, so give class_names, all of them in their order, or leave it out"
        )
    names = sorted({n for _, labels in every for n in labels.names or ()}) if class_names is None else list(class_names)
    places = {name: place for place, name in enumerate(names)}
    return [_numbered(labels, places, where) for where, labels in every], Classes(num_classes or len(names), names)


def numbers_of(labels: Labels, where: str, num_classes: int, class_names: Sequence[str] | None) -> IntArray:
    """The labels as numbers of classes that are known."""
    if labels.names is not None and class_names is None:
        raise UserError(f"{where}: its labels are names, but the model's classes have none; give their numbers")
    (numbers,), _ = agree([(where, labels)], num_classes, class_names)
    return numbers


def _numbered(labels: Labels, places: dict[str, int], where: str) -> IntArray:
    names = labels.names or ()
    unknown = next((name for name in names if name not in places), None)
    if unknown is not None:
        raise UserError(f"{where}: holds the label '{unknown}', but the classes are {', '.join(places)}")
    return np.array([places[name] for name in names], dtype=np.int64)[labels.of]


def _kind(labels: Labels) -> str:
    return "numbers" if labels.names is None else "names"


def _text(value: object, where: str) -> npt.NDArray[Any] | None:
    """``value`` as an array of text, or None where it is something else."""
    if isinstance(value, Tensor):
        return None
    if isinstance(value, (list, tuple)):
        return _text_of_objects(value, where)
    array = np.asarray(value)
    if array.dtype.kind in "OT":  # as pandas keeps text, or numpy's own texts of any length
        return _text_of_objects(array.tolist(), where) if array.ndim == 1 else None
    if array.dtype.kind == "S":
        try:
            return np.char.decode(array, "utf-8")
        except UnicodeDecodeError as error:
            raise UserError(f"{where}: the labels are bytes that are no UTF-8 text; give text or numbers") from error
    return array if array.dtype.kind == "U" else None


def _text_of_objects(values: Sequence[object], where: str) -> npt.NDArray[Any] | None:
    """Numpy would turn the 1 of ["one", 1] into text without a word."""
    texts = sum(isinstance(value, str) for value in values)
    if texts == 0:
        return None
    if texts < len(values):
        other = next(value for value in values if not isinstance(value, str))
        raise UserError(f"{where}: the labels are names, but one is {other!r}; use one kind, and leave none out")
    return np.array(values)
