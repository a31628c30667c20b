"""The Dirichlet partition: its distribution, its limits, and nobody left with too few."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from superfed.core.random import stream
from superfed.data.partitions import Dirichlet
from superfed.data.partitions.dirichlet import _top_up


@pytest.mark.parametrize("alpha", [1e-6, 0.1, 1e6])
def test_dirichlet_deals_to_a_hundred_thousand_clients(alpha: float) -> None:
    labels = np.random.default_rng(0).integers(0, 10, 300_000)
    partition = Dirichlet(alpha).deal(labels, 100_000, stream(0, "partition"))
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
            # Once a client holds N/K = 400 after some class, it gets nothing of the later ones.
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
    assume(sum(held) >= least * len(held))
    expected = list(held)
    for _ in range(sum(max(least - h, 0) for h in held)):
        expected[expected.index(max(expected))] -= 1
    expected = [max(before, least) if before < least else after for before, after in zip(held, expected, strict=True)]

    owners = np.random.default_rng(0).permutation(np.repeat(np.arange(len(held)), held))
    before = owners.copy()
    _top_up(owners, np.array(held), least)
    assert np.bincount(owners, minlength=len(held)).tolist() == expected
    assert set(before[owners != before].tolist()) <= {i for i, h in enumerate(held) if h > least}


@pytest.mark.parametrize(("classes", "of_each"), [(10, 180), (62, 16)])
def test_rounding_favours_nobody(classes: int, of_each: int) -> None:
    """Over many deals the first client and the last hold as much as anybody."""
    labels = np.repeat(np.arange(classes), of_each)
    deals = [
        np.diff(Dirichlet(alpha=1.0).deal(labels, 100, np.random.default_rng(seed)).offsets) for seed in range(200)
    ]
    mean = np.mean(deals, axis=0)
    fair = len(labels) / 100
    assert abs(mean - fair).max() < 0.1 * fair
