"""Label noise: how often, to which class, and nothing else touched."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superfed.core.errors import SettingError, UserError
from superfed.core.random import stream
from superfed.data.noise import LabelNoise, NoiseKind

LABELS = np.arange(100_000) % 10


@pytest.mark.parametrize("kind", ["pair", "symmetric"])
@pytest.mark.parametrize("rate", [0.1, 0.4, 0.6, 0.8])
def test_so_many_labels_change(kind: NoiseKind, rate: float) -> None:
    noisy = LabelNoise(kind, rate).apply(LABELS, 10, stream(0, "noise"))
    # Five standard deviations of the fraction among 100,000.
    assert (noisy != LABELS).mean() == pytest.approx(rate, abs=5 * np.sqrt(rate * (1 - rate) / len(LABELS)))


@given(rate=st.floats(0, 1), num_classes=st.integers(2, 300), seed=st.integers(0, 1000))
def test_pair_noise_goes_to_the_next_class_only(rate: float, num_classes: int, seed: int) -> None:
    labels = np.arange(600) % num_classes
    noisy = LabelNoise("pair", rate).apply(labels, num_classes, stream(seed, "noise"))
    changed = noisy != labels
    assert np.array_equal(noisy[changed], (labels[changed] + 1) % num_classes)


def test_symmetric_noise_goes_to_every_other_class_alike() -> None:
    noisy = LabelNoise("symmetric", 1.0).apply(LABELS, 10, stream(0, "noise"))
    assert (noisy != LABELS).all()
    steps = np.bincount((noisy - LABELS) % 10, minlength=10)
    assert steps[0] == 0
    assert np.abs(steps[1:] / len(LABELS) - 1 / 9).max() < 0.005


@pytest.mark.parametrize("kind", ["pair", "symmetric"])
def test_the_ends_of_the_range(kind: NoiseKind) -> None:
    assert np.array_equal(LabelNoise(kind, 0).apply(LABELS, 10, stream(0, "noise")), LABELS)
    assert (LabelNoise(kind, 1).apply(LABELS, 10, stream(0, "noise")) != LABELS).all()


@pytest.mark.parametrize("kind", ["pair", "symmetric"])
def test_the_result_is_a_copy_of_the_same_type_and_repeats(kind: NoiseKind) -> None:
    labels = np.full(1000, 255, dtype=np.uint8)
    labels.flags.writeable = False
    one, again, other = (LabelNoise(kind, 0.5).apply(labels, 256, stream(seed, "noise")) for seed in (0, 0, 1))
    assert one.dtype == np.uint8
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert not np.shares_memory(one, labels)
    if kind == "pair":
        assert set(one.tolist()) == {0, 255}


@pytest.mark.parametrize(
    ("kind", "rate", "sentence"),
    [
        ("pair", -0.1, "rate: must be from 0 to 1, got -0.1"),
        ("symmetric", 1.01, "rate: must be from 0 to 1, got 1.01"),
        ("pair", float("nan"), "rate: must be a finite number, got nan"),
        ("pair", "0.4", "rate: must be a finite number, got '0.4'"),
        ("pair", True, "rate: must be a finite number, got True"),
        ("pairs", 0.1, "kind: must be 'pair' or 'symmetric', got 'pairs'"),
    ],
)
def test_a_bad_setting_is_a_sentence(kind: Any, rate: Any, sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        LabelNoise(kind, rate)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("kind", ["pair", "symmetric"])
def test_one_class_has_no_other_to_go_to(kind: NoiseKind) -> None:
    with pytest.raises(UserError, match="label noise needs at least two classes to confuse, got 1"):
        LabelNoise(kind, 0.5).apply(np.zeros(3, dtype=np.int64), 1, stream(0, "noise"))
