"""Anyone's inputs and labels, read together."""

from superfed.core.errors import UserError
from superfed.data.arrays import Array, read_inputs
from superfed.data.labels import Labels, labels_of


def read_pair(x: object, y: object, where: str, limit: int | None = None) -> tuple[Array, Labels]:
    """Anyone's inputs and labels, as many of the one as of the other."""
    if any(_length(side) == 0 for side in (x, y)):
        raise UserError(f"{where}: holds no samples; leave it out")
    labels = labels_of(y, where, limit)
    inputs = read_inputs(x, where)
    if len(inputs) != len(labels):
        raise UserError(f"{where}: has {len(inputs)} inputs but {len(labels)} labels")
    return inputs, labels


def _length(value: object) -> int | None:
    try:
        return len(value)  # type: ignore[arg-type]
    except TypeError:
        return None
