"""Who holds what is counted truly, for every kind of data, without inputs, and in seconds for very many clients."""

import json
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from superfed.core.errors import SettingError
from superfed.core.samples import FederatedData, Samples
from superfed.data.dataset import Dataset
from superfed.data.dealt import DealtDataset, SyntheticFederation
from superfed.data.federation import Federation
from superfed.data.noise import LabelNoise
from superfed.data.own import ClientArrays, OwnData, Pair
from superfed.data.partitions import IID, Dirichlet, Natural, Pathological
from superfed.data.pool import Owners
from superfed.data.split import CUT, TEST, TRAIN
from superfed.data.synthetic import Synthetic
from superfed.experiments.holdings import (
    MOST_CLIENTS,
    MOST_NUMBERS,
    DataSetting,
    Holdings,
    as_plain,
    data_settings,
    details,
    gather,
    summary,
    titles,
    to_count,
)
from superfed.experiments.schema import RunConfig

LABELS = np.random.default_rng(0).integers(0, 7, 1200)
OWNERS = Owners([f"writer {i}" for i in range(15)], np.sort(np.random.default_rng(1).integers(0, 15, 1200)))
GIVEN = np.random.default_rng(2).choice([CUT, TRAIN, TEST], 1200).astype(np.int8)
CONFIG: dict[str, Any] = {
    "algorithm": "fedavg",
    "data": {"dataset": "digits", "num_clients": 10, "partition": "iid"},
    "model": "two_nn",
    "training": {"rounds": 1, "clients_per_round": 2, "lr": 0.1},
}


class Windows(Dataset):
    """Samples that overlap, as windows of a text do."""

    overlap = 9


def pool(kind: type[Dataset] = Dataset, **settings: Any) -> Dataset:
    return kind("pool", torch.arange(1200.0)[:, None], torch.from_numpy(LABELS), num_classes=8, **settings)


def own_client(seed: int) -> ClientArrays | Pair:
    rng = np.random.default_rng(seed)
    pairs = [(rng.normal(size=(n, 2)), rng.integers(0, 8, n)) for n in (20 + seed, 4, 6)]
    choices: list[ClientArrays | Pair] = [
        pairs[0],
        ClientArrays(pairs[0], test=pairs[2]),
        ClientArrays(pairs[0], *pairs[1:]),
    ]
    return choices[seed % 3]


KINDS: dict[str, FederatedData] = {
    "dirichlet": DealtDataset.deal(pool(), Dirichlet(0.5), 12),
    "noisy": DealtDataset.deal(pool(), Pathological(), 12, noise=LabelNoise("pair", 0.4)),
    "natural": DealtDataset.deal(pool(owners=OWNERS), Natural()),
    "given parts": DealtDataset.deal(pool(parts=GIVEN), IID(), 12),
    "windows": DealtDataset.deal(pool(Windows, owners=OWNERS), Natural()),
    "synthetic": SyntheticFederation(Synthetic(ragged=0.5), 12),
    "own": OwnData.from_clients([own_client(seed) for seed in range(12)], num_classes=8),
}


def all_of(data: FederatedData) -> Holdings:
    return gather(data, np.arange(data.num_clients))


@pytest.mark.parametrize("data", KINDS.values(), ids=KINDS.keys())
def test_parts_are_what_is_handed_out(data: FederatedData) -> None:
    held = all_of(data)
    for client in range(data.num_clients):
        handed = [len(part(client)) for part in (data.train, data.validation, data.test)]
        assert held.parts[client].tolist() == handed
        assert data.train_size(client) == handed[0]


@pytest.mark.parametrize("name", [name for name in KINDS if name not in ("noisy", "windows")])
def test_counts_are_those_of_the_labels_handed_out(name: str) -> None:
    data = KINDS[name]
    held = all_of(data)
    for client in range(data.num_clients):
        handed = torch.cat([part(client).y for part in (data.train, data.validation, data.test)])
        assert held.counts[client].tolist() == torch.bincount(handed, minlength=data.num_classes).tolist()


def test_labels_are_counted_before_noise() -> None:
    clean = DealtDataset.deal(pool(), Pathological(), 12)
    assert np.array_equal(all_of(KINDS["noisy"]).counts, all_of(clean).counts)
    assert not torch.equal(KINDS["noisy"].train(0).y, clean.train(0).y)


def test_of_windows_those_between_the_parts_are_counted_too() -> None:
    held = all_of(KINDS["windows"])
    assert held.counts.sum() == 1200
    assert held.parts.sum() < 1200
    assert held.names == OWNERS.names


def test_a_subset_of_clients() -> None:
    some = gather(KINDS["natural"], np.array([3, 11]))
    everyone = all_of(KINDS["natural"])
    assert np.array_equal(some.counts, everyone.counts[[3, 11]])
    assert some.names == ["writer 3", "writer 11"]


@pytest.mark.parametrize("name", ["dirichlet", "own"])
def test_a_client_that_is_not_there_is_a_sentence(name: str) -> None:
    data = KINDS[name]
    assert isinstance(data, Federation | OwnData)
    for ask in (data.labels, data.sizes):
        with pytest.raises(SettingError, match="client: must be from 0 to 11, got 12"):
            ask(12)


def test_no_inputs_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shy(Dataset):
        def inputs(self, rows: Any) -> Tensor:
            raise AssertionError

    assert all_of(DealtDataset.deal(pool(Shy), IID(), 12)).counts.sum() > 0
    monkeypatch.setattr(Synthetic, "generate", None)
    assert all_of(KINDS["synthetic"]).counts.sum() > 0


def test_anybodys_data_is_counted_by_what_it_hands_out() -> None:
    class Foreign:
        num_clients, num_classes, input_shape, fingerprint = 2, 3, (1,), "-"

        def train_size(self, client: int) -> int:
            return 2

        def train(self, client: int) -> Samples:
            return Samples(torch.zeros(2, 1), torch.tensor([client, 2]))

        validation = test = train

    held = gather(Foreign(), np.arange(2))
    assert held.counts.tolist() == [[3, 0, 3], [0, 3, 3]]
    assert held.parts.tolist() == [[2, 2, 2]] * 2


def held(counts: list[list[int]]) -> Holdings:
    array = np.array(counts)
    parts = np.stack([array.sum(axis=1), 0 * array[:, 0], 0 * array[:, 0]], axis=1)
    return Holdings(np.arange(len(array)), array, parts)


@pytest.mark.parametrize(
    ("counts", "skew"),
    [
        ([[5, 5], [50, 50]], 0.0),
        ([[10, 0], [0, 10]], 0.5),
        ([[7, 0, 0, 0], [0, 7, 0, 0], [0, 0, 7, 0], [0, 0, 0, 7]], 0.75),
        ([[3]], 0.0),
        ([[30, 10], [0, 20]], (0.25 + 0.5) / 2),
    ],
)
def test_label_skew_is_the_mean_distance_from_the_whole(counts: list[list[int]], skew: float) -> None:
    assert summary(held(counts))["label_skew"] == pytest.approx(skew)


@pytest.mark.parametrize("num_clients", [2, 20, 100])
def test_what_chance_gives_is_what_an_iid_deal_has(num_clients: int) -> None:
    found = [summary(all_of(DealtDataset.deal(pool(), IID(), num_clients, seed=seed))) for seed in range(20)]
    by_chance = found[0]["label_skew_by_chance"]
    assert np.mean([one["label_skew"] for one in found]) == pytest.approx(by_chance, rel=0.12)


def test_the_summary_in_numbers() -> None:
    found = summary(held([[4, 0, 0], [1, 2, 0], [9, 0, 0], [0, 8, 0]]))
    expected = {
        "samples": 24,
        "train": 24,
        "validation": 0,
        "test": 0,
        "size_min": 3,
        "size_median": 6.0,
        "size_max": 9,
        "classes_held": 2,
        "classes_per_client_min": 1,
        "classes_per_client_mean": 1.25,
        "classes_per_client_max": 2,
    }
    assert {key: found[key] for key in expected} == expected


def test_of_very_many_clients_a_sample_is_counted() -> None:
    assert to_count(MOST_CLIENTS, 10).tolist() == list(range(MOST_CLIENTS))
    some = to_count(1_000_000, 10)
    assert len(np.unique(some)) == len(some) == MOST_CLIENTS
    assert (np.diff(some) > 0).all()
    assert some[-1] < 1_000_000
    assert np.array_equal(some, to_count(1_000_000, 10))
    assert len(to_count(50_000, 5000)) == MOST_NUMBERS // 5000
    assert len(to_count(5, 10**9)) == 1


def test_a_hundred_thousand_synthetic_clients() -> None:
    data = SyntheticFederation(Synthetic(ragged=0.5, dim=4000), 100_000)
    found = summary(gather(data, to_count(data.num_clients, data.num_classes)))
    assert found["size_median"] == pytest.approx(50, abs=1)


def test_four_million_windows() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.multinomial(4_200_000 - 660, rng.dirichlet(np.ones(660))) + 1
    owners = Owners([f"role {i}" for i in range(660)], np.repeat(np.arange(660), sizes))
    y = torch.from_numpy(rng.integers(0, 80, 4_200_000))
    data = DealtDataset.deal(Windows("text", y[:, None], y, num_classes=80, owners=owners))
    found = all_of(data)
    assert found.counts.sum(axis=1).tolist() == sizes.tolist()


def settings_of(**changes: list[Any]) -> list[DataSetting]:
    """A run for each value, changed in its data or, by ``seed``, as a whole."""
    runs = []
    for key, values in changes.items():
        for value in values:
            change = {"seed": value} if key == "seed" else {"data": {**CONFIG["data"], key: value}}
            runs.append(RunConfig.from_plain(CONFIG | change))
    return data_settings(runs)


def test_seeds_noise_and_newcomers_make_no_other_setting() -> None:
    (setting,) = settings_of(seed=[3, 4, 3], newcomers=[0.0, 0.5], label_noise=[None, {"kind": "pair", "rate": 0.1}])
    assert setting.seeds == (3, 4, 0)
    assert details(setting) == (
        "test_fraction=0.2, validation_fraction=0.1; seed 3 (seeds 4, 0: dealt anew by the same settings)"
    )


def test_it_is_said_where_samples_that_overlap_are_mixed() -> None:
    apart, mixed = settings_of(overlapping=["apart", "mixed"])
    assert titles([apart, mixed], [10, 10]) == [
        "digits, 10 clients, iid, overlapping=apart",
        "digits, 10 clients, iid, overlapping=mixed",
    ]
    assert details(apart) == "test_fraction=0.2, validation_fraction=0.1; seed 0"
    assert details(mixed) == "test_fraction=0.2, validation_fraction=0.1, overlapping=mixed; seed 0"


def test_each_way_of_dealing_is_a_setting_with_a_title_of_its_own() -> None:
    partitions = [{"name": "dirichlet", "alpha": alpha} for alpha in (0.1, 1.0)] + [{"name": "iid"}]
    settings = settings_of(partition=partitions)
    assert titles(settings, [10, 10, 10]) == [
        "digits, 10 clients, dirichlet, alpha=0.1",
        "digits, 10 clients, dirichlet, alpha=1.0",
        "digits, 10 clients, iid",
    ]
    assert details(settings[0]).startswith("alpha=0.1, min_samples=2; test_fraction=0.2")
    by_seed = settings_of(seed=[5]) + settings_of(num_clients=[1], test_fraction=[0.5])
    assert titles(by_seed[:1], [10]) == ["digits, 10 clients, iid"]
    assert titles(by_seed[1:], [1, 10]) == [
        "digits, 1 client, iid, test_fraction=0.2",
        "digits, 10 clients, iid, test_fraction=0.5",
    ]


def test_a_seed_of_the_datas_own_is_a_setting() -> None:
    settings = settings_of(seed=[7, 8], test_fraction=[0.2])
    assert [setting.seeds for setting in settings] == [(7, 8, 0)]
    own = data_settings(
        [RunConfig.from_plain(CONFIG | {"data": CONFIG["data"] | {"seed": s}, "seed": 9}) for s in (0, 1)]
    )
    assert [setting.seeds for setting in own] == [(0,), (1,)]


def test_for_programs_everything_is_plain() -> None:
    data = KINDS["natural"]
    (setting,) = settings_of(seed=[0])
    plain = json.loads(json.dumps(as_plain(setting, data, all_of(data))))
    assert plain["num_clients"] == plain["counted"] == 15
    first = plain["clients"][0]
    assert first["name"] == "writer 0"
    assert sum(first["classes"]) == first["train"] + first["validation"] + first["test"]
    assert plain["summary"]["samples"] == 1200
