"""Pools from what people have in Python: arrays, Hugging Face datasets, Flower's partitioners."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from superfed.core.errors import UserError
from superfed.data.dataset import Dataset
from superfed.data.gathered import Piece, as_kept, gathered, scale_in_range
from superfed.data.labels import class_limit
from superfed.data.own_column import Column
from superfed.data.own_columns import Columns, all_different, owners_in
from superfed.data.pairs import read_pair
from superfed.data.pool import Owners


def from_arrays(
    x: object,
    y: object,
    clients: object = None,
    *,
    split: object = None,
    scale: float = 1.0,
    num_classes: int | None = None,
    class_names: Sequence[str] | None = None,
) -> Dataset:
    """A pool of inputs ``x`` and labels ``y``, arrays, tensors or lists with a row per sample.

    Args:
        clients: whose each sample is, as names or whole numbers. Without it the pool has no clients yet.
        split: for each sample "train", "validation" or "test"; what a client brings none of is cut from "train".
        scale: what inputs are multiplied by, unless they are text (signed whole numbers).
        num_classes: without it, as many as the labels show.
        class_names: what the classes are called; where labels are names it gives their order, and they are sorted
            without it.
    """
    scale_in_range(scale)
    where = "from_arrays"
    inputs, labels = read_pair(x, y, where, class_limit(num_classes, class_names))
    owners = None if clients is None else owners_in([_given(clients, "clients", len(labels))])
    parts = None if split is None else _given(split, "split", len(labels)).parts()
    piece = Piece(where, as_kept(inputs, where), labels, parts)
    return gathered("arrays", [piece], owners, scale, num_classes, class_names)


def from_hf(
    dataset: Any,
    *,
    client: str,
    label: str = "label",
    inputs: str | None = None,
    split: str | None = None,
    scale: float | None = None,
) -> Dataset:
    """A pool of a Hugging Face ``Dataset`` in which the column ``client`` says whose each row is.

    Args:
        inputs: a column of images or lists; without it the only such column or, where there is none, all other columns
            of numbers.
        split: a column of "train", "validation" and "test".
        scale: what inputs are multiplied by; without it 1/255 for images, and 1 for all else.
    """
    scale_in_range(scale)
    all_different(client=client, label=label, inputs=inputs, split=split)
    columns = Columns(label, inputs, split, (client,))
    piece, table = _read_hf(dataset, columns, "from_hf")
    people = Column.of(table, client, "from_hf")
    owners = _called(owners_in([people]), _names(dataset, client), people.where)
    return gathered("hf", [piece], owners, scale, class_names=_names(dataset, label))


def from_partitioner(
    partitioner: Any,
    *,
    label: str = "label",
    inputs: str | None = None,
    split: str | None = None,
    scale: float | None = None,
) -> Dataset:
    """A pool of the partitions of a Flower partitioner that has its dataset, each of them a client.

    A ``FederatedDataset`` with a single partitioner will do as well. Other arguments are as for ``from_hf``.
    """
    scale_in_range(scale)
    all_different(label=label, inputs=inputs, split=split)
    partitioner = _only_partitioner(partitioner)
    ids = getattr(partitioner, "_partition_by", None)  # what clients were told apart by is nothing to learn from
    others = tuple(
        name for name in ([ids] if isinstance(ids, str) else ids or []) if name not in (label, inputs, split)
    )
    columns = Columns(label, inputs, split, others)
    pieces, class_names = [], None
    for index, partition in enumerate(_partitions(partitioner)):
        pieces.append(_read_hf(partition, columns, f"partition {index}")[0])
        class_names = _names(partition, label)
    natural = getattr(partitioner, "partition_id_to_natural_id", None) or {}
    names = [str(natural.get(index, index)) for index in range(len(pieces))]
    of = np.repeat(np.arange(len(pieces)), [len(piece.labels) for piece in pieces])
    return gathered("partitions", pieces, Owners(names, of), scale, class_names=class_names)


def _given(values: object, what: str, count: int) -> Column:
    """One value per sample as a column."""
    import pyarrow

    try:
        data = pyarrow.array(values if isinstance(values, (list, tuple)) else np.asarray(values))
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise UserError(f"{what}: is no list with one value for each sample, all of one kind") from error
    if len(data) != count:
        raise UserError(f"{what}: has {len(data)} values for {count} samples")
    return Column(what, pyarrow.chunked_array([data]), what)


def _read_hf(dataset: Any, columns: Columns, where: str) -> tuple[Piece, Any]:
    """The samples of a dataset, and the table they were read from."""
    if isinstance(dataset, Mapping):
        raise UserError(f"{where}: got {len(dataset)} datasets ({', '.join(map(str, dataset))}); give one of them")
    if not all(hasattr(dataset, name) for name in ("features", "with_format", "__len__")):
        raise UserError(f"{where}: expected a Hugging Face Dataset, held in memory or on disk, got {_kind(dataset)}")
    if dataset.format["type"] == "custom":
        raise UserError(f"{where}: the dataset has a transform, which would be lost; apply it by map() first")
    names = None if columns.label is None else _names(dataset, columns.label)
    chosen = columns.choose(dataset.features.arrow_schema, where)
    table = dataset.with_format("arrow", columns=chosen.every)[:]
    return chosen.piece(table, where, None if names is None else len(names), follow_paths=True), table


def _names(dataset: Any, column: str) -> list[str] | None:
    """What Hugging Face's ``ClassLabel`` calls the numbers of a column."""
    names = getattr(dataset.features.get(column), "names", None)
    return None if names is None else list(names)


def _called(owners: Owners, names: Sequence[str] | None, where: str) -> Owners:
    """By their names, where their numbers have some."""
    if names is None:
        return owners
    unknown = next((number for number in owners.names if not 0 <= int(number) < len(names)), None)
    if unknown is not None:
        raise UserError(f"{where}: holds {unknown}, but {len(names)} names are for 0 to {len(names) - 1}")
    return Owners([names[int(number)] for number in owners.names], owners.of)


def _only_partitioner(given: Any) -> Any:
    """A partitioner that can be asked."""
    if isinstance(several := getattr(given, "partitioners", None), Mapping):
        if len(several) != 1:
            raise UserError(
                f"from_partitioner: there are partitioners for {', '.join(several)}; give one of them, such as "
                f"partitioners['{next(iter(several))}']"
            )
        (given,) = several.values()
    if not hasattr(given, "load_partition"):
        raise UserError(f"from_partitioner: expected a partitioner, got {_kind(given)}")
    if hasattr(given, "is_dataset_assigned") and not given.is_dataset_assigned():
        raise UserError("from_partitioner: the partitioner has no dataset yet; set its dataset first")
    return given


def _partitions(partitioner: Any) -> Iterator[Any]:
    try:
        for index in range(partitioner.num_partitions):
            yield partitioner.load_partition(index)
    except ValueError as error:  # as when Flower finds no partition that is large enough
        raise UserError(f"from_partitioner: the partitioner failed: {' '.join(str(error).split())}") from error


def _kind(value: object) -> str:
    return f"a {type(value).__name__}"
