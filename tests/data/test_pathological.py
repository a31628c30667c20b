"""The pathological partition: few classes a client, and exactly which."""

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.core.errors import SettingError
from superfed.core.random import stream
from superfed.data.digits import Digits
from superfed.data.partitions import Partition, Pathological
from superfed.data.partitions.pathological import allot


def classes_of(partition: Partition, labels: npt.NDArray[Any], client: int) -> tuple[int, ...]:
    return tuple(np.unique(labels[partition.client(client)]).tolist())


def test_sorted_shards_are_equal_to_within_one() -> None:
    labels = np.random.default_rng(0).integers(0, 7, 1003)
    partition = Pathological(shards_per_client=1).deal(labels, 60, stream(0, "partition"))
    assert set(np.diff(partition.offsets).tolist()) == {16, 17}
    spans = sorted((labels[partition.client(i)].min(), labels[partition.client(i)].max()) for i in range(60))
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


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
@given(sizes=st.lists(st.integers(1, 60), min_size=1, max_size=12), data=st.data(), seed=st.integers(0, 99))
def test_by_class_never_mixes_a_shard(sizes: list[int], data: st.DataObject, seed: int) -> None:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    num_clients = data.draw(st.integers(len(sizes), sum(sizes)))
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
