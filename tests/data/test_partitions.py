"""Every way of dealing: each sample to exactly one client, nobody without, the same every time."""

import time
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.core.errors import SettingError, UserError
from superfed.core.random import stream
from superfed.data.digits import Digits
from superfed.data.partitions import IID, PARTITIONS, Dirichlet, Partition, PartitionKind, Pathological
from superfed.data.partitions.dirichlet import _top_up
from superfed.data.partitions.pathological import allot

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


def classes_of(partition: Partition, labels: npt.NDArray[Any], client: int) -> tuple[int, ...]:
    return tuple(np.unique(labels[partition.client(client)]).tolist())


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
    labels.flags.writeable = False
    kind.deal(labels, 10, stream(0, "partition"))


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@pytest.mark.parametrize("num_clients", [0, -3, True, 2.0, "5", 11])
def test_an_impossible_number_of_clients_is_a_sentence(kind: PartitionKind, num_clients: Any) -> None:
    with pytest.raises(SettingError, match=r"^num_clients: ") as caught:
        kind.deal(np.zeros(10, dtype=np.int64), num_clients, stream(0, "partition"))
    assert caught.value.key == "num_clients"


# Pathological


def test_sorted_shards_are_equal_to_within_one() -> None:
    labels = np.random.default_rng(0).integers(0, 7, 1003)
    partition = Pathological(shards_per_client=1).deal(labels, 60, stream(0, "partition"))
    assert set(np.diff(partition.offsets).tolist()) == {16, 17}
    spans = sorted((labels[partition.client(i)].min(), labels[partition.client(i)].max()) for i in range(60))
    assert all(before[1] <= after[0] for before, after in zip(spans, spans[1:], strict=False))


def test_cyclic_on_cifar_gives_five_label_pairs() -> None:
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(10), 5000))
    partition = Pathological(assignment="cyclic").deal(labels, 100, stream(0, "partition"))
    pairs = Counter(classes_of(partition, labels, i) for i in range(100))
    assert pairs == {(c, c + 5): 20 for c in range(5)}
    assert set(np.diff(partition.offsets).tolist()) == {500}


def test_random_on_cifar_gives_many_label_pairs() -> None:
    labels = np.repeat(np.arange(10), 5000)
    partition = Pathological().deal(labels, 100, stream(0, "partition"))
    pairs = {classes_of(partition, labels, i) for i in range(100)}
    assert len(pairs) > 30
    assert max(map(len, pairs)) == 2


def test_order_within_a_class_is_shuffled() -> None:
    labels = np.repeat(np.arange(2), 100)
    partition = Pathological(shards_per_client=1, assignment="cyclic").deal(labels, 4, stream(0, "partition"))
    assert sorted(partition.client(0).tolist()) != list(range(50))
    assert set(partition.client(0).tolist()) <= set(range(100))


def test_by_class_and_cyclic_give_every_client_of_digits_two_classes() -> None:
    labels = Digits().load(None).y.numpy()
    partition = Pathological(assignment="cyclic", cut="by_class").deal(labels, 20, stream(0, "partition"))
    assert {len(classes_of(partition, labels, i)) for i in range(20)} == {2}
    straddling = Pathological(assignment="cyclic").deal(labels, 20, stream(0, "partition"))
    assert max(len(classes_of(straddling, labels, i)) for i in range(20)) > 2


@settings(deadline=None)
@given(labels=ragged_labels(), seed=st.integers(0, 99))
def test_by_class_never_mixes_a_shard(labels: IntArray, seed: int) -> None:
    num_clients = len(labels)
    if num_clients == 0:
        return
    partition = Pathological(shards_per_client=1, cut="by_class").deal(labels, num_clients, stream(seed, "partition"))
    assert all(len(classes_of(partition, labels, i)) == 1 for i in range(num_clients))


@pytest.mark.parametrize(
    ("class_sizes", "num_shards", "expected"),
    [
        ([50, 50], 4, [2, 2]),
        ([60, 40], 5, [3, 2]),
        ([55, 45], 10, [6, 4]),  # remainders tie: the first class wins
        ([1, 999], 10, [1, 9]),  # a class too small for a shard of its own gets one all the same
        ([1, 1, 1, 97], 4, [1, 1, 1, 1]),
        ([1, 1, 4, 4], 5, [1, 1, 2, 1]),
    ],
)
def test_shards_are_allotted_by_largest_remainder(class_sizes: list[int], num_shards: int, expected: list[int]) -> None:
    assert allot(np.array(class_sizes), num_shards).tolist() == expected


@given(sizes=st.lists(st.integers(1, 10_000), min_size=1, max_size=30), data=st.data())
def test_an_allotment_is_whole_fair_and_never_more_than_a_class_has(sizes: list[int], data: st.DataObject) -> None:
    num_shards = data.draw(st.integers(len(sizes), max(len(sizes), sum(sizes))))
    shards = allot(np.array(sizes), num_shards)
    assert shards.sum() == num_shards
    assert (shards >= 1).all()
    assert (shards <= np.array(sizes)).all()
    due = np.array(sizes) * num_shards / sum(sizes)
    assert (shards < due + 1).all()
    if (due >= 1).all():
        assert (shards > due - 1).all()


def test_more_shards_than_samples_is_a_sentence() -> None:
    with pytest.raises(SettingError, match="shards_per_client: 3 shards for each of 5 clients are 15 shards") as caught:
        Pathological(shards_per_client=3).deal(np.zeros(14, dtype=np.int64), 5, stream(0, "partition"))
    assert "more than the 14 samples" in str(caught.value)


# Dirichlet


@pytest.mark.parametrize("alpha", [1e-6, 0.1, 1e6])
def test_dirichlet_deals_to_a_hundred_thousand_clients(alpha: float) -> None:
    labels = np.random.default_rng(0).integers(0, 10, 300_000)
    began = time.perf_counter()
    partition = Dirichlet(alpha).deal(labels, 100_000, stream(0, "partition"))
    assert time.perf_counter() - began < 5
    assert np.array_equal(np.sort(partition.indices), np.arange(300_000))
    assert np.diff(partition.offsets).min() >= 2


def test_a_small_alpha_gives_a_class_to_one_client_and_a_large_one_to_all_alike() -> None:
    labels = np.repeat(np.arange(10), 1000)

    def counts(alpha: float) -> npt.NDArray[np.int64]:
        partition = Dirichlet(alpha).deal(labels, 10, stream(0, "partition"))
        return np.array([np.bincount(labels[partition.client(i)], minlength=10) for i in range(10)])

    # The tenth client stands open for the tenth class alone: whoever holds N/K gets no more.
    assert sorted(counts(1e-6).max(axis=1).tolist()) == [1000] * 10
    assert np.abs(counts(1e6) - 100).max() <= 2


def test_dirichlet_has_the_right_spread() -> None:
    """For the first class nobody is full yet, so shares follow Dir(alpha): variance (K-1) / (K²(Kα+1))."""
    labels = np.repeat(np.arange(2), [1000, 19_000])
    shares = []
    for seed in range(200):
        partition = Dirichlet(alpha=0.5).deal(labels, 10, stream(seed, "partition"))
        shares += [(labels[partition.client(i)] == 0).sum() / 1000 for i in range(10)]
    assert np.mean(shares) == pytest.approx(0.1)
    assert np.var(shares) == pytest.approx(9 / (100 * 6), rel=0.15)


def test_who_holds_its_fair_share_gets_no_more_of_a_class() -> None:
    labels = np.repeat(np.arange(4), 500)
    for seed in range(20):
        partition = Dirichlet(alpha=0.2).deal(labels, 5, stream(seed, "partition"))
        for client in range(5):
            counts = np.bincount(labels[partition.client(client)], minlength=4)
            held = np.cumsum(counts)
            # Once at N/K = 400 after some class, nothing of later classes, save nothing: nobody here needs a top-up.
            full = int(np.argmax(held >= 400)) if (held >= 400).any() else 3
            assert counts[full + 1 :].sum() == 0


@pytest.mark.parametrize(
    ("num_samples", "num_clients", "min_samples", "least"),
    [(1000, 100, 2, 2), (200, 100, 2, 2), (199, 100, 2, 1), (100, 100, 2, 1), (1000, 100, 5, 5), (450, 100, 5, 4)],
)
def test_too_small_clients_are_topped_up(num_samples: int, num_clients: int, min_samples: int, least: int) -> None:
    labels = np.arange(num_samples) % 10
    partition = Dirichlet(1e-6, min_samples).deal(labels, num_clients, stream(0, "partition"))
    assert np.diff(partition.offsets).min() == least


@given(held=st.lists(st.integers(0, 40), min_size=1, max_size=30), least=st.integers(1, 5))
def test_topping_up_is_taking_one_at_a_time_from_the_largest(held: list[int], least: int) -> None:
    if sum(held) < least * len(held):
        return
    expected = list(held)
    for _ in range(sum(max(least - h, 0) for h in held)):
        expected[expected.index(max(expected))] -= 1
    expected = [max(before, least) if before < least else after for before, after in zip(held, expected, strict=True)]

    owners = np.random.default_rng(0).permutation(np.repeat(np.arange(len(held)), held))
    before = owners.copy()
    _top_up(owners, np.array(held), least)
    assert np.bincount(owners, minlength=len(held)).tolist() == expected
    assert set(before[owners != before].tolist()) <= {i for i, h in enumerate(held) if h > least}


# Settings and the result itself


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


def test_every_kind_describes_itself() -> None:
    assert list(PARTITIONS) == ["pathological", "dirichlet", "iid"]
    for kind in PARTITIONS.values():
        first_line = (kind.__doc__ or "").splitlines()[0]
        assert first_line.endswith((".", ":")) or len(first_line) > 40
        assert not first_line.startswith(f"{kind.__name__}(")  # what a dataclass without a docstring would say


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
