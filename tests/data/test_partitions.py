"""Every way of dealing: each sample to exactly one client, nobody without, the same every time."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.core.errors import SettingError, UserError
from superfed.core.random import stream
from superfed.data.partitions import IID, PARTITIONS, Dirichlet, Partition, PartitionKind, Pathological

KINDS: list[PartitionKind] = [
    Pathological(),
    Pathological(assignment="cyclic"),
    Pathological(shards_per_client=1),
    Pathological(shards_per_client=3, cut="by_class"),
    Pathological(assignment="cyclic", cut="by_class"),
    Dirichlet(alpha=0.3),
    Dirichlet(alpha=1e-6),
    Dirichlet(alpha=1e6),
    Dirichlet(alpha=5e-324),
    Dirichlet(alpha=1.0, min_samples=7),
    IID(),
]

IntArray = npt.NDArray[np.int64]


@st.composite
def ragged_labels(draw: st.DrawFn) -> IntArray:
    """Class sizes from one to hundreds side by side, with gaps between the class numbers."""
    sizes = draw(st.lists(st.one_of(st.integers(0, 3), st.integers(0, 300)), min_size=1, max_size=12))
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return np.random.default_rng(draw(st.integers(0, 99))).permutation(labels)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@settings(deadline=None, max_examples=60)
@given(labels=ragged_labels(), fraction=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_each_sample_to_exactly_one_client_and_nobody_without(
    kind: PartitionKind, labels: IntArray, fraction: float, seed: int
) -> None:
    shards = kind.shards_per_client if isinstance(kind, Pathological) else 1
    most = len(labels) // shards
    if most == 0:
        with pytest.raises(SettingError):
            kind.deal(labels, 1, stream(seed, "partition"))
        return
    num_clients = max(1, round(fraction * most))
    if getattr(kind, "cut", None) == "by_class" and shards * num_clients < len(np.unique(labels)):
        with pytest.raises(SettingError, match="cut: 'by_class' needs at least one shard"):
            kind.deal(labels, num_clients, stream(seed, "partition"))
        return

    partition = kind.deal(labels, num_clients, stream(seed, "partition"))

    assert partition.num_clients == num_clients
    assert np.array_equal(np.sort(partition.indices), np.arange(len(labels)))
    held = [partition.client(i) for i in range(num_clients)]
    assert min(map(len, held)) >= 1
    assert np.array_equal(np.concatenate(held), partition.indices)
    assert [partition.size(i) for i in range(num_clients)] == list(map(len, held))

    again = kind.deal(labels.copy(), num_clients, stream(seed, "partition"))
    assert again.fingerprint() == partition.fingerprint()
    assert np.array_equal(again.indices, partition.indices)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_another_seed_deals_otherwise(kind: PartitionKind) -> None:
    labels = np.arange(600) % 10
    one, other = (kind.deal(labels, 20, stream(seed, "partition")) for seed in (0, 1))
    assert one.fingerprint() != other.fingerprint()


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_dealing_leaves_the_labels_alone(kind: PartitionKind) -> None:
    labels = np.arange(100) % 5
    labels.flags.writeable = False  # writing would raise
    assert kind.deal(labels, 10, stream(0, "partition")).num_clients == 10
    assert labels.tolist() == (np.arange(100) % 5).tolist()


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@pytest.mark.parametrize("num_clients", [0, -3, True, 2.0, "5", 11])
def test_an_impossible_number_of_clients_is_a_sentence(kind: PartitionKind, num_clients: Any) -> None:
    with pytest.raises(SettingError, match=r"^num_clients: ") as caught:
        kind.deal(np.zeros(10, dtype=np.int64), num_clients, stream(0, "partition"))
    assert caught.value.key == "num_clients"


@pytest.mark.parametrize(
    ("kind", "settings", "sentence"),
    [
        ("dirichlet", {"alpha": 0.0}, "alpha: must be above 0, got 0.0"),
        ("dirichlet", {"alpha": -1}, "alpha: must be above 0, got -1.0"),
        ("dirichlet", {"alpha": float("nan")}, "alpha: must be a finite number, got nan"),
        ("dirichlet", {"alpha": float("inf")}, "alpha: must be a finite number, got inf"),
        ("dirichlet", {"alpha": "0.5"}, "alpha: must be a finite number, got '0.5'"),
        ("dirichlet", {"alpha": 1, "min_samples": 0}, "min_samples: must be a whole number of at least 1, got 0"),
        ("pathological", {"shards_per_client": 0}, "shards_per_client: must be a whole number of at least 1, got 0"),
        (
            "pathological",
            {"shards_per_client": 1.5},
            "shards_per_client: must be a whole number of at least 1, got 1.5",
        ),
        ("pathological", {"assignment": "rnd"}, "assignment: must be 'random' or 'cyclic', got 'rnd'"),
        ("pathological", {"cut": "class"}, "cut: must be 'sorted' or 'by_class', got 'class'"),
    ],
)
def test_a_bad_setting_is_a_sentence(kind: str, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        PARTITIONS[kind](**settings)
    assert str(caught.value) == sentence


def test_alpha_has_no_default() -> None:
    with pytest.raises(TypeError, match="alpha"):
        PARTITIONS["dirichlet"]()


def test_every_kind_describes_itself_in_its_first_line() -> None:
    assert list(PARTITIONS) == ["pathological", "dirichlet", "iid", "natural"]
    for kind in PARTITIONS.values():
        assert kind.__doc__
        assert not kind.__doc__.startswith(f"{kind.__name__}(")  # what a dataclass without a docstring would say


@pytest.mark.parametrize(
    ("offsets", "indices", "sentence"),
    [
        ([0, 2, 2], [0, 1], "every client at least one sample"),
        ([0, 2, 1, 3], [0, 1, 2], "every client at least one sample"),
        ([1, 2], [0, 1], "begin at 0"),
        ([0, 3], [0, 1], "end at the number of indices"),
        ([0], [], "begin at 0 and end"),
        ([0, 2], [0, -1], "not be negative"),
        ([0, 2], [0.0, 1.0], "flat int64"),
    ],
)
def test_a_broken_partition_is_a_sentence(offsets: list[int], indices: list[Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        Partition(np.array(offsets), np.array(indices, dtype=None if indices else np.int64))


@pytest.mark.parametrize("client", [-1, 3])
def test_a_client_that_is_not_there_is_a_sentence(client: int) -> None:
    partition = IID().deal(np.zeros(9, dtype=np.int64), 3, stream(0, "partition"))
    for ask in (partition.client, partition.size):
        with pytest.raises(SettingError, match=f"client: must be from 0 to 2, got {client}"):
            ask(client)


def test_the_fingerprint_tells_who_from_what() -> None:
    indices = np.arange(6)
    one = Partition(np.array([0, 2, 6]), indices)
    other = Partition(np.array([0, 3, 6]), indices)
    assert one.fingerprint() != other.fingerprint()
    assert one.fingerprint() == Partition(np.array([0, 2, 6]), indices.copy()).fingerprint()
