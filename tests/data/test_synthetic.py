"""The synthetic task: as many clients as you like, none of them made before it is asked for."""

import tracemalloc
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from superfed.core.errors import SettingError
from superfed.data.dealt import SyntheticFederation
from superfed.data.synthetic import Synthetic


def test_a_million_clients_cost_what_one_does() -> None:
    SyntheticFederation(Synthetic(), 1).train(0)  # first calls import and allocate what they need only once
    tracemalloc.start()
    data = SyntheticFederation(Synthetic(ragged=0.5), 1_000_000)
    first, last = data.train(0), data.train(999_999)
    sizes = data.train_size(0), data.train_size(999_999)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sizes == (len(first), len(last))
    assert not torch.equal(first.x[:5], last.x[:5])
    assert peak < 500_000


def test_a_client_does_not_depend_on_how_many_others_there_are() -> None:
    few, many = (SyntheticFederation(Synthetic(ragged=0.3), n, seed=4).test(2) for n in (3, 1_000_000))
    assert torch.equal(few.x, many.x)
    assert torch.equal(few.y, many.y)


def test_sizes_are_all_alike_unless_ragged() -> None:
    task = Synthetic(samples_per_client=30)
    assert {task.size(0, client) for client in range(100)} == {30}


@pytest.mark.parametrize(
    ("samples_per_client", "ragged", "least", "most"),
    [(10, 0.7, 3, 17), (50, 0.1, 45, 55), (10, 1.0, 2, 20), (4, 1.0, 2, 8), (3, 0.5, 2, 4)],
)
def test_ragged_sizes_fill_their_range(samples_per_client: int, ragged: float, least: int, most: int) -> None:
    task = Synthetic(samples_per_client=samples_per_client, ragged=ragged)
    sizes = [task.size(0, client) for client in range(1000)]
    assert (min(sizes), max(sizes)) == (least, most)
    assert [task.size(0, client) for client in range(1000)] == sizes
    means = task.class_means(0)
    assert [len(task.generate(0, client, means)[1]) for client in range(20)] == sizes[:20]


def test_each_client_holds_so_many_classes_evenly() -> None:
    task = Synthetic(num_classes=6, classes_per_client=3, samples_per_client=31)
    held: Counter[int] = Counter()
    for client in range(200):
        _, y = task.generate(0, client, task.class_means(0))
        classes, counts = np.unique(y, return_counts=True)
        assert sorted(counts.tolist()) == [10, 10, 11]
        held.update(classes.tolist())
    assert sorted(held) == list(range(6))
    assert min(held.values()) > 60  # 100 on average


def test_spread_and_drift_are_what_they_say() -> None:
    task = Synthetic(num_classes=2, dim=50, samples_per_client=2000, spread=0.5, drift=3.0)
    means = task.class_means(0)
    shifts = []
    for client in range(20):
        x, y = task.generate(0, client, means)
        for label in (0, 1):
            inside = x[y == label]
            assert inside.std(axis=0).mean() == pytest.approx(0.5, rel=0.05)
            shifts.append(inside.mean(axis=0) - means[label])
    assert np.std(shifts) == pytest.approx(3.0, rel=0.1)
    assert x.dtype == np.float32


def test_without_spread_and_drift_a_sample_is_its_class_mean() -> None:
    task = Synthetic(spread=0, drift=0)
    means = task.class_means(7)
    x, y = task.generate(7, 3, means)
    assert np.array_equal(x, means[y])
    assert not np.array_equal(means, task.class_means(8))


def test_the_fingerprint_sees_the_task_and_the_number_of_clients() -> None:
    settings: list[dict[str, Any]] = [{}, {"spread": 1.0}, {"drift": 0.1}, {"dim": 8}, {"ragged": 0.1}]
    prints = {SyntheticFederation(Synthetic(**s), 10).fingerprint for s in settings}
    prints.add(SyntheticFederation(Synthetic(), 11).fingerprint)
    assert len(prints) == 6
    assert SyntheticFederation(Synthetic(spread=2), 10).fingerprint in prints


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"num_classes": 0}, "num_classes: must be a whole number of at least 1, got 0"),
        ({"dim": 0}, "dim: must be a whole number of at least 1, got 0"),
        ({"samples_per_client": 1}, "samples_per_client: must be a whole number of at least 2, got 1"),
        ({"samples_per_client": 2.5}, "samples_per_client: must be a whole number of at least 2, got 2.5"),
        ({"classes_per_client": 11}, "classes_per_client: must be a whole number from 1 to 10, got 11"),
        ({"spread": -1.0}, "spread: must be at least 0, got -1.0"),
        ({"drift": float("inf")}, "drift: must be a finite number, got inf"),
        ({"ragged": 1.5}, "ragged: must be from 0 to 1, got 1.5"),
    ],
)
def test_a_bad_setting_is_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        Synthetic(**settings)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("num_clients", [0, 1.5])
def test_a_bad_number_of_clients_is_a_sentence(num_clients: Any) -> None:
    with pytest.raises(SettingError, match="num_clients: must be a whole number of at least 1"):
        SyntheticFederation(Synthetic(), num_clients)
