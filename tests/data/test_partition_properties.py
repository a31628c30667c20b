"""What each way of dealing promises, on tiny, ragged and huge sets of labels; and what cannot be is one sentence."""

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.core.errors import SettingError
from superfed.core.random import stream
from superfed.data.partitions import IID, Dirichlet, Partition, PartitionKind, Pathological
from superfed.data.partitions.pathological import allot

Labels = npt.NDArray[np.integer[Any]]

PATHOLOGICAL = [
    Pathological(shards, assignment, cut)
    for shards in (1, 2, 5)
    for assignment in ("random", "cyclic")
    for cut in ("sorted", "by_class")
]
KINDS: list[PartitionKind] = [
    *PATHOLOGICAL,
    *(Dirichlet(alpha, least) for alpha, least in ((1e-3, 1), (0.1, 2), (1.0, 5), (1e6, 2), (0.5, 10**9))),
    IID(),
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=repr)

RNG = np.random.default_rng(0)
SETS: dict[str, Labels] = {
    "one sample": np.array([7]),
    "one class": np.full(53, 3),
    "a class for each sample": RNG.permutation(60) * 4,
    "numbers with gaps": RNG.permutation(np.repeat([0, 3, 17, 200, 254], [1, 120, 1, 40, 2])),
    "one that dwarfs the rest": np.repeat([9, 1, 5], [1, 1, 500]),
    "even": np.tile(np.arange(10), 30),
}
every_set = pytest.mark.parametrize("labels", SETS.values(), ids=SETS.keys())


def deal(kind: PartitionKind, labels: Labels, num_clients: Any, seed: int = 0) -> Partition:
    return kind.deal(labels, num_clients, stream(seed, "partition"))


def shards(kind: PartitionKind) -> int:
    return kind.shards_per_client if isinstance(kind, Pathological) else 1


def least_and_most(kind: PartitionKind, labels: Labels) -> tuple[int, int]:
    """The numbers of clients that can be dealt to; none if the first is above the second."""
    least = 1
    if isinstance(kind, Pathological) and kind.cut == "by_class":
        least = max(1, -(-len(np.unique(labels)) // shards(kind)))
    return least, len(labels) // shards(kind)


@st.composite
def ragged(draw: st.DrawFn) -> Labels:
    """Classes of any sizes, called by any numbers that fit a byte, in any order; perhaps no sample at all."""
    sizes = draw(st.lists(st.one_of(st.integers(1, 3), st.integers(1, 150)), max_size=12))
    names = draw(st.lists(st.integers(0, 255), min_size=len(sizes), max_size=len(sizes), unique=True))
    labels = np.repeat(np.array(names, dtype=np.int64), sizes)
    return np.random.default_rng(draw(st.integers(0, 99))).permutation(labels)


def keeps_its_promises(kind: PartitionKind, labels: Labels, partition: Partition) -> None:
    sizes = np.diff(partition.offsets)
    assert np.array_equal(np.sort(partition.indices), np.arange(len(labels)))
    assert sizes.min() >= 1
    if isinstance(kind, IID):
        assert np.ptp(sizes) <= 1
    elif isinstance(kind, Dirichlet):
        assert sizes.min() >= min(kind.min_samples, len(labels) // len(sizes))
    elif isinstance(kind, Pathological):
        shards_are_dealt(kind, labels, partition)


def shards_are_dealt(kind: Pathological, labels: Labels, partition: Partition) -> None:
    """Against shards cut anew: everybody holds so many of them, and in cyclic order it is known which."""
    num_clients = partition.num_clients
    num_shards = kind.shards_per_client * num_clients
    held = [Counter(labels[partition.client(i)].tolist()) for i in range(num_clients)]
    if kind.cut == "sorted":
        pieces = np.array_split(np.sort(labels), num_shards)
    else:
        classes, class_sizes = np.unique(labels, return_counts=True)
        allotted = allot(class_sizes, num_shards)
        pieces = [
            piece
            for label, size, parts in zip(classes, class_sizes, allotted, strict=True)
            for piece in np.array_split(np.full(size, label), parts)
        ]
        assert max(map(len, held)) <= kind.shards_per_client
    cut = [Counter(piece.tolist()) for piece in pieces]
    if kind.assignment == "cyclic":
        assert held == [sum(cut[client::num_clients], Counter()) for client in range(num_clients)]
    elif kind.shards_per_client == 1:
        assert sorted(map(sorted, (one.items() for one in held))) == sorted(map(sorted, (one.items() for one in cut)))
    sizes = sorted(len(piece) for piece in pieces)
    few, many = sum(sizes[: kind.shards_per_client]), sum(sizes[-kind.shards_per_client :])
    assert all(few <= one.total() <= many for one in held)


@every_kind
@every_set
def test_promises_are_kept_at_the_edges(kind: PartitionKind, labels: Labels) -> None:
    least, most = least_and_most(kind, labels)
    for num_clients in {least, least + 1, (least + most) // 2, most}:
        if least <= num_clients <= most:
            keeps_its_promises(kind, labels, deal(kind, labels, num_clients))


@every_kind
@settings(deadline=None, max_examples=40)
@given(labels=ragged(), num_clients=st.one_of(st.integers(1, 8), st.integers(1, 400)), seed=st.integers(0, 2**63 - 1))
def test_promises_are_kept_or_there_is_a_sentence(
    kind: PartitionKind, labels: Labels, num_clients: int, seed: int
) -> None:
    least, most = least_and_most(kind, labels)
    if least <= num_clients <= most:
        keeps_its_promises(kind, labels, deal(kind, labels, num_clients, seed))
        return
    with pytest.raises(SettingError) as caught:
        deal(kind, labels, num_clients, seed)
    assert type(caught.value) is SettingError
    assert caught.value.key in ("num_clients", "shards_per_client", "cut")
    assert "\n" not in str(caught.value)


@every_kind
def test_as_many_clients_as_shards_and_one_client(kind: PartitionKind) -> None:
    labels = np.tile(np.arange(5), 20)
    crowd = deal(kind, labels, 100 // shards(kind))
    assert set(np.diff(crowd.offsets).tolist()) == {shards(kind)}
    num_clients = least_and_most(kind, labels)[0]
    if num_clients == 1:
        assert sorted(deal(kind, labels, 1).client(0).tolist()) == list(range(100))


@every_kind
@every_set
def test_neither_the_type_nor_the_numbers_of_labels_matter(kind: PartitionKind, labels: Labels) -> None:
    least, most = least_and_most(kind, labels)
    if least > most:
        return
    expected = deal(kind, labels, most).fingerprint()
    for dtype in (np.uint8, np.int16, np.int32, np.uint64, ">i4"):
        assert deal(kind, labels.astype(dtype), most).fingerprint() == expected
    ranks = np.unique(labels, return_inverse=True)[1]
    assert deal(kind, ranks, most).fingerprint() == expected
    assert deal(kind, ranks * 1_000_000_007 - 2**40, most).fingerprint() == expected
    assert deal(kind, labels, np.int64(most)).fingerprint() == expected


@every_kind
def test_a_seed_deals_the_same_and_every_other_otherwise(kind: PartitionKind) -> None:
    labels = np.tile(np.arange(10), 30)
    found = [deal(kind, labels, 30, seed).fingerprint() for seed in (*range(20), *range(20))]
    assert found[:20] == found[20:]
    assert len(set(found)) == 20


@every_kind
def test_a_million_samples_and_a_hundred_thousand_clients(kind: PartitionKind) -> None:
    labels = np.random.default_rng(0).integers(0, 62, 1_000_000, dtype=np.uint8)
    partition = deal(kind, labels, 100_000)
    sizes = np.diff(partition.offsets)
    assert len(sizes) == 100_000
    assert (np.bincount(partition.indices, minlength=1_000_000) == 1).all()
    if isinstance(kind, IID) or getattr(kind, "cut", None) == "sorted":
        assert set(sizes.tolist()) == {10}


@pytest.mark.parametrize("num_clients", [101, 10**30, 0, -1, 1.0, None, "7", True])
@every_kind
def test_no_such_number_of_clients(kind: PartitionKind, num_clients: Any) -> None:
    with pytest.raises(SettingError) as caught:
        deal(kind, np.arange(100) % 3, num_clients)
    assert caught.value.key == "num_clients"
    assert str(caught.value).startswith("num_clients: ")


@every_kind
def test_nothing_cannot_be_dealt(kind: PartitionKind) -> None:
    with pytest.raises(SettingError, match="num_clients: 1 clients cannot each hold one of 0 samples"):
        deal(kind, np.array([], dtype=np.int64), 1)


@pytest.mark.parametrize("kind", PATHOLOGICAL, ids=repr)
def test_more_shards_than_samples(kind: Pathological) -> None:
    huge = Pathological(10**30, kind.assignment, kind.cut)
    with pytest.raises(SettingError, match=r"shards_per_client: .* more than the 100 samples"):
        deal(huge, np.arange(100) % 3, 2)


@pytest.mark.parametrize("assignment", ["random", "cyclic"])
def test_fewer_shards_than_classes(assignment: Any) -> None:
    kind = Pathological(2, assignment, "by_class")
    with pytest.raises(SettingError, match="cut: 'by_class' needs at least one shard for each of the 7 classes"):
        deal(kind, np.arange(100) % 7, 3)
    assert deal(kind, np.arange(100) % 7, 4).num_clients == 4
