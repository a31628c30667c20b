"""Clients who are the people that the samples come from."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from superfed.core.errors import SettingError
from superfed.core.random import stream
from superfed.data.dataset import Dataset
from superfed.data.dealt import DealtDataset
from superfed.data.partitions import Natural
from superfed.data.partitions.partition import Partition
from superfed.data.pool import Owners

SIZES = st.lists(st.integers(0, 12), min_size=1, max_size=30).filter(any)


def owned(sizes: list[int], shuffle: int | None = None) -> Owners:
    of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return Owners(
        [f"owner {i}" for i in range(len(sizes))], of if shuffle is None else stream(shuffle, "t").permutation(of)
    )


def dealt(
    natural: Natural, owners: Owners, num_clients: int | None = None, seed: int = 0
) -> tuple[list[int], Partition]:
    chosen = natural.choose(owners, num_clients, stream(seed, "partition"))
    return chosen.tolist(), natural.deal(owners, chosen)


@given(sizes=SIZES, shuffle=st.one_of(st.none(), st.integers(0, 9)))
def test_everybody_keeps_what_is_theirs_in_its_order(sizes: list[int], shuffle: int | None) -> None:
    owners = owned(sizes, shuffle)
    chosen, partition = dealt(Natural(), owners)
    assert chosen == [i for i, size in enumerate(sizes) if size]
    assert sorted(partition.indices.tolist()) == list(range(sum(sizes)))
    for client, owner in enumerate(chosen):
        assert partition.client(client).tolist() == np.flatnonzero(owners.of == owner).tolist()


@given(sizes=SIZES, least=st.integers(1, 14))
def test_who_has_too_few_samples_is_left_out_and_nobody_else(sizes: list[int], least: int) -> None:
    enough = [i for i, size in enumerate(sizes) if size >= least]
    if not enough:
        with pytest.raises(SettingError, match="min_samples: some clients are wanted, but there are 0 people"):
            dealt(Natural(min_samples=least), owned(sizes))
        return
    chosen, partition = dealt(Natural(min_samples=least), owned(sizes))
    assert chosen == enough
    assert [partition.size(client) for client in range(len(chosen))] == [sizes[owner] for owner in enough]


@given(
    sizes=SIZES,
    fraction=st.floats(0, 1, exclude_min=True, allow_subnormal=False),
    seed=st.integers(0, 20),
)
def test_a_fraction_is_reached_and_without_the_last_one_drawn_it_is_not(
    sizes: list[int], fraction: float, seed: int
) -> None:
    owners = owned(sizes)
    chosen, partition = dealt(Natural(fraction), owners, seed=seed)
    held = [sizes[owner] for owner in chosen]
    assert len(partition.indices) == sum(held)
    assert sum(held) >= fraction * sum(sizes) * (1 - 1e-9)
    assert any(sum(held) - size < fraction * sum(sizes) for size in held)
    assert 0 not in held


def test_the_fraction_comes_first_and_then_the_bound() -> None:
    """As in LEAF: whoever is drawn and has too few is not replaced."""
    owners = owned([1, 9] * 50)
    half, _ = dealt(Natural(0.5), owners, seed=3)
    bounded, _ = dealt(Natural(0.5, min_samples=5), owners, seed=3)
    assert bounded == [owner for owner in half if owner % 2]
    assert 0 < len(bounded) < 50


@given(sizes=SIZES, data=st.data(), seed=st.integers(0, 20))
def test_a_number_of_clients_draws_so_many(sizes: list[int], data: st.DataObject, seed: int) -> None:
    there = [i for i, size in enumerate(sizes) if size]
    wanted = data.draw(st.integers(1, len(there)))
    chosen, partition = dealt(Natural(), owned(sizes), wanted, seed)
    assert len(set(chosen)) == wanted == partition.num_clients
    assert chosen == sorted(chosen)
    assert set(chosen) <= set(there)
    if wanted == len(there):
        assert chosen == there


def test_everybody_may_be_drawn_and_the_seed_decides() -> None:
    owners = owned([3] * 10)
    for natural, wanted in ((Natural(), 3), (Natural(0.3), None)):
        draws = [tuple(dealt(natural, owners, wanted, seed)[0]) for seed in range(60)]
        assert {owner for draw in draws for owner in draw} == set(range(10))
        assert {len(draw) for draw in draws} == {3}
        assert draws == [tuple(dealt(natural, owners, wanted, seed)[0]) for seed in range(60)]
        assert len(set(draws)) > 20


def test_without_fraction_or_number_the_seed_decides_nothing() -> None:
    owners = owned([3, 1, 4], shuffle=1)
    prints = {dealt(Natural(), owners, seed=seed)[1].fingerprint() for seed in range(5)}
    assert len(prints) == 1


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"fraction": 0}, "fraction: must be above 0 and at most 1, got 0.0"),
        ({"fraction": 1.5}, "fraction: must be above 0 and at most 1, got 1.5"),
        ({"fraction": float("nan")}, "fraction: must be a finite number, got nan"),
        ({"fraction": None}, "fraction: must be a finite number, got None"),
        ({"min_samples": 0}, "min_samples: must be a whole number of at least 1, got 0"),
        ({"min_samples": 2.5}, "min_samples: must be a whole number of at least 1, got 2.5"),
    ],
)
def test_a_bad_setting_is_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        Natural(**settings)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("natural", "num_clients", "sentence"),
    [
        (Natural(), 4, "num_clients: 4 clients are wanted, but there are 3 people"),
        (
            Natural(min_samples=3),
            3,
            "num_clients: 3 clients are wanted, but there are 2 people with at least 3 samples",
        ),
        (
            Natural(min_samples=9),
            1,
            "min_samples: 1 clients are wanted, but there are 0 people with at least 9 samples",
        ),
        (
            Natural(min_samples=9),
            None,
            "min_samples: some clients are wanted, but there are 0 people with at least 9 samples",
        ),
        (Natural(), 0, "num_clients: must be a whole number of at least 1, got 0"),
        (Natural(), -1, "num_clients: must be a whole number of at least 1, got -1"),
        (Natural(), 1.5, "num_clients: must be a whole number of at least 1, got 1.5"),
    ],
)
def test_more_clients_than_people_are_a_sentence(natural: Natural, num_clients: Any, sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        dealt(natural, owned([3, 2, 0, 5]), num_clients)
    assert str(caught.value) == sentence


def test_a_dealt_dataset_names_its_clients() -> None:
    owners = owned([3, 0, 2, 6])
    x = torch.arange(11.0)[:, None]
    pool = Dataset("pool", x, torch.zeros(11, dtype=torch.int64), 1, owners=owners)
    data = DealtDataset.deal(pool, Natural(min_samples=3))
    assert data.client_names == ["owner 0", "owner 3"]
    for client, numbers in enumerate(({0, 1, 2}, {5, 6, 7, 8, 9, 10})):
        parts = (data.train(client), data.validation(client), data.test(client))
        assert {int(number) for part in parts for number in part.x[:, 0]} == numbers
    assert DealtDataset.deal(pool).client_names == ["owner 0", "owner 2", "owner 3"]
    unowned = Dataset("pool", x, torch.zeros(11, dtype=torch.int64), 1)
    with pytest.raises(SettingError, match="pool does not say whose its samples are; choose another one"):
        DealtDataset.deal(unowned, Natural())


@pytest.mark.parametrize("natural", [Natural(), Natural(0.5), Natural(min_samples=3)])
def test_a_hundred_thousand_owners(natural: Natural) -> None:
    sizes = np.random.default_rng(0).integers(0, 8, 100_000)
    of = np.random.default_rng(1).permutation(np.repeat(np.arange(100_000, dtype=np.int32), sizes))
    owners = Owners([f"owner {i}" for i in range(100_000)], of)
    chosen, partition = dealt(natural, owners)
    assert partition.num_clients == len(chosen) > 40_000
    assert np.array_equal(np.diff(partition.offsets), sizes[chosen])
    assert np.array_equal(of[partition.indices], np.repeat(chosen, sizes[chosen]))
