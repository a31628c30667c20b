"""Dealt datasets: what each client is handed, where the noise falls, and what the fingerprint sees."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from superfed.core.errors import SettingError, UserError
from superfed.core.samples import FederatedData, Samples
from superfed.data.dataset import Dataset
from superfed.data.dealt import DealtDataset, SyntheticFederation
from superfed.data.federation import Federation
from superfed.data.noise import LabelNoise
from superfed.data.partitions import IID, Dirichlet, Partition, Pathological
from superfed.data.split import Split
from superfed.data.synthetic import Synthetic

# Each input says which sample it is, so that labels can be followed through the deal.
POOL = Dataset("pool", torch.arange(1000.0)[:, None], torch.arange(1000) % 10, num_classes=10)

Build = Callable[..., Federation]
BUILDS: dict[str, Build] = {
    "dealt": lambda **settings: DealtDataset.deal(POOL, Dirichlet(0.5), 20, **settings),
    "synthetic": lambda **settings: SyntheticFederation(Synthetic(ragged=0.5), 20, **settings),
}
builds = pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS.keys())


def parts(data: FederatedData, client: int) -> list[Samples]:
    return [data.train(client), data.validation(client), data.test(client)]


@builds
def test_a_federation_is_what_the_engine_asks_for(build: Build) -> None:
    data: FederatedData = build()
    assert data.num_clients == 20
    assert data.num_classes == 10
    for client in range(data.num_clients):
        assert data.train_size(client) == len(data.train(client))
        for samples in parts(data, client):
            assert samples.x.dtype == torch.float32
            assert samples.x.is_contiguous()
            assert samples.x.shape == (len(samples), *data.input_shape)
            assert samples.y.dtype == torch.int64


@builds
def test_the_same_settings_give_the_same_samples_in_any_order_of_asking(build: Build) -> None:
    one, other = build(seed=3), build(seed=3)
    backwards = {client: parts(other, client) for client in reversed(range(20))}
    for client in range(20):
        for here, there in zip(parts(one, client), backwards[client], strict=True):
            assert torch.equal(here.x, there.x)
            assert torch.equal(here.y, there.y)
    assert one.fingerprint == other.fingerprint


@builds
@pytest.mark.parametrize("kind", ["pair", "symmetric"])
def test_noise_falls_on_training_and_validation_and_never_on_test(build: Build, kind: Any) -> None:
    split = Split(0.2, 0.3)
    clean, noisy = build(split=split), build(split=split, noise=LabelNoise(kind, 0.4))
    changed: dict[str, list[bool]] = {"train": [], "validation": [], "test": []}
    for client in range(20):
        for (name, flips), before, after in zip(
            changed.items(), parts(clean, client), parts(noisy, client), strict=True
        ):
            assert torch.equal(before.x, after.x), name
            flips += (before.y != after.y).tolist()
            if kind == "pair":
                moved = before.y != after.y
                assert torch.equal(after.y[moved], (before.y[moved] + 1) % 10)
    assert not any(changed["test"])
    assert np.mean(changed["train"]) == pytest.approx(0.4, abs=0.1)
    assert np.mean(changed["validation"]) == pytest.approx(0.4, abs=0.15)


def test_noise_differs_between_clients_and_seeds() -> None:
    def flips(client: int, seed: int) -> list[bool]:
        partition = Partition(np.array([0, 500, 1000]), np.arange(1000))
        split = Split(0.2, 0)
        pair = [
            DealtDataset(POOL, partition, split=split, noise=noise, seed=seed).train(client).y
            for noise in (None, LabelNoise("pair", 0.5))
        ]
        return (pair[0] != pair[1]).tolist()

    assert flips(0, 0) == flips(0, 0)
    assert flips(0, 0) != flips(1, 0)
    assert flips(0, 0) != flips(0, 1)


def test_each_client_shuffles_for_itself() -> None:
    partition = Partition(np.array([0, 500, 1000]), np.arange(1000))
    data = DealtDataset(POOL, partition, split=Split(0.2, 0))
    first, second = (data.test(client).x[:, 0] - 500 * client for client in (0, 1))
    assert first.tolist() != second.tolist()


def test_every_client_gets_its_own_samples_with_their_labels() -> None:
    data = DealtDataset.deal(POOL, Pathological(assignment="cyclic"), 25, split=Split(0.2, 0.1))
    everyone = []
    for client in range(25):
        dealt = parts(data, client)
        numbers = torch.cat([samples.x[:, 0] for samples in dealt]).long()
        assert sorted(numbers.tolist()) == sorted(data.partition.client(client).tolist())
        assert torch.equal(torch.cat([samples.y for samples in dealt]), numbers % 10)
        assert [len(samples) for samples in dealt] == [29, 3, 8]
        everyone += numbers.tolist()
    assert sorted(everyone) == list(range(1000))


def test_images_come_out_scaled() -> None:
    images = torch.arange(200, dtype=torch.uint8).reshape(100, 1, 1, 2)
    data = DealtDataset.deal(Dataset("d", images, torch.arange(100) % 2, 2, scale=1 / 255), IID(), 5)
    assert data.input_shape == (1, 1, 2)
    seen = torch.cat([samples.x for client in range(5) for samples in parts(data, client)])
    assert torch.allclose(seen.flatten().sort().values, torch.arange(200) / 255)


def test_a_client_of_one_sample_trains_on_it() -> None:
    data = DealtDataset(POOL, Partition(np.array([0, 1, 3]), np.array([7, 8, 9])))
    assert [len(samples) for samples in parts(data, 0)] == [1, 0, 0]
    assert [len(samples) for samples in parts(data, 1)] == [1, 0, 1]
    assert data.test(0).x.shape == (0, 1)


def test_the_seed_also_deals() -> None:
    one, other = (DealtDataset.deal(POOL, IID(), 10, seed=seed) for seed in (0, 1))
    assert one.partition.fingerprint() != other.partition.fingerprint()


@builds
def test_the_fingerprint_sees_every_setting(build: Build) -> None:
    settings: list[dict[str, Any]] = [
        {},
        {"seed": 1},
        {"split": Split(test_fraction=0.3)},
        {"split": Split(validation_fraction=0.2)},
        {"noise": LabelNoise("pair", 0.1)},
        {"noise": LabelNoise("pair", 0.2)},
        {"noise": LabelNoise("symmetric", 0.1)},
    ]
    assert len({build(**s).fingerprint for s in settings}) == len(settings)


def test_the_fingerprint_sees_data_and_partition() -> None:
    partition = Partition(np.array([0, 2, 4]), np.array([0, 1, 2, 3]))
    otherwise = Partition(np.array([0, 2, 4]), np.array([0, 2, 1, 3]))
    changed = Dataset("pool", POOL.x + 1, POOL.y, 10)
    prints = {DealtDataset(*both).fingerprint for both in ((POOL, partition), (POOL, otherwise), (changed, partition))}
    assert len(prints) == 3


@builds
@pytest.mark.parametrize("client", [-1, 20])
def test_a_client_that_is_not_there_is_a_sentence(build: Build, client: int) -> None:
    data = build()
    for ask in (data.train_size, data.train, data.validation, data.test):
        with pytest.raises(SettingError, match="client: must be from 0 to 19"):
            ask(client)


@builds
@pytest.mark.parametrize("seed", [2**63, 0.5, None])
def test_a_bad_seed_is_a_sentence(build: Build, seed: Any) -> None:
    with pytest.raises(SettingError, match="seed: must be a whole number"):
        build(seed=seed)


def test_a_partition_of_another_dataset_is_a_sentence() -> None:
    with pytest.raises(UserError, match="the partition deals sample 1000, but pool has 1000 samples"):
        DealtDataset(POOL, Partition(np.array([0, 2]), np.array([5, 1000])))


def test_noise_with_one_class_is_a_sentence_before_anyone_asks() -> None:
    lonely = Dataset("lonely", torch.zeros(4, 1), torch.zeros(4, dtype=torch.int64), num_classes=1)
    with pytest.raises(UserError, match="at least two classes"):
        DealtDataset.deal(lonely, IID(), 2, noise=LabelNoise("pair", 0.1))
