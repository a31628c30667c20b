"""Letters as Flower's records, and back."""

from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

from superfed.deploy.flower.wire.letters import Facts, Letter
from superfed.deploy.flower.wire.npy import Arrays, described
from superfed.deploy.flower.wire.refusal import Refusal

FACTS, ARRAYS, NUMPY = "facts", "arrays", "numpy.ndarray"


def to_records(letter: Letter) -> RecordDict:
    return RecordDict({FACTS: ConfigRecord(dict(letter.facts)), ARRAYS: ArrayRecord(_wrapped(letter.arrays))})


def from_records(records: RecordDict) -> Letter:
    """The letter in a message's content; what stands in its arrays is looked at when they are unpacked."""
    if set(records) != {FACTS, ARRAYS}:
        raise Refusal("it is no letter of superfed's")
    facts, arrays = records[FACTS], records[ARRAYS]
    if not isinstance(facts, ConfigRecord) or not isinstance(arrays, ArrayRecord):
        raise Refusal("it is no letter of superfed's")
    return Letter(_plain(facts), {name: array.data for name, array in arrays.items()})


def _wrapped(arrays: Arrays) -> dict[str, Array]:
    """Type and shape are said for Flower's sake; who reads checks what the data itself says."""
    wrapped = {}
    for name, data in arrays.items():
        promised, _ = described(data)
        wrapped[name] = Array(dtype=promised.dtype, shape=promised.shape, stype=NUMPY, data=data)
    return wrapped


def _plain(facts: ConfigRecord) -> Facts:
    plain: dict[str, str | int | float] = {}
    for name, value in facts.items():
        if not isinstance(value, str | int | float):
            raise Refusal(f"its '{str(name)[:40]}' is neither text nor a number")
        plain[name] = value
    return plain
