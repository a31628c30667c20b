"""The pooled dataset, its registry, and the digest of its contents."""

import dataclasses
import sys
from typing import Any

import numpy as np
import pytest
import torch

from superfed.core.errors import UserError
from superfed.data.dataset import Dataset
from superfed.data.digits import Digits
from superfed.data.fingerprint import fingerprint
from superfed.data.registry import DATASETS
from superfed.data.synthetic import Synthetic

Y = torch.tensor([0, 1, 2])


def test_images_are_kept_small_and_handed_out_as_scaled_float32() -> None:
    x = torch.tensor([[0, 255], [51, 102], [1, 2]], dtype=torch.uint8)
    dataset = Dataset("d", x, Y, num_classes=3, scale=1 / 255)
    out = dataset.inputs(np.array([1, 0]))
    assert out.dtype == torch.float32
    assert out.is_contiguous()
    assert torch.allclose(out, torch.tensor([[0.2, 0.4], [0.0, 1.0]]))
    assert dataset.x is x
    assert x.tolist() == [[0, 255], [51, 102], [1, 2]]


def test_floats_are_scaled_without_touching_the_pool() -> None:
    x = torch.ones(3, 2, dtype=torch.float32)
    assert Dataset("d", x, Y, 3, scale=0.5).inputs(np.arange(3)).tolist() == [[0.5, 0.5]] * 3
    assert x.tolist() == [[1.0, 1.0]] * 3


def test_text_is_handed_out_as_it_is() -> None:
    x = torch.tensor([[5, 7], [1, 2], [3, 4]])
    out = Dataset("d", x, Y, num_classes=3, scale=0.5).inputs(np.array([2]))
    assert out.dtype == torch.int64
    assert out.tolist() == [[3, 4]]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"x": torch.zeros(3, 2, dtype=torch.int32)}, "d: inputs must be uint8, int64 or floating point"),
        ({"x": torch.zeros(2, 2)}, "d: needs as many inputs as labels, got 2 and 3"),
        (
            {"x": torch.zeros(0, 2), "y": torch.zeros(0, dtype=torch.int64)},
            "d: needs as many inputs as labels, got 0 and 0",
        ),
        ({"y": torch.zeros(3)}, "d: labels must be one int64 number per sample"),
        ({"y": torch.zeros(3, 1, dtype=torch.int64)}, "d: labels must be one int64 number per sample"),
        ({"y": torch.tensor([0, 3, 1])}, "d: labels run from 0 to 3, but 3 classes are 0 to 2"),
        ({"y": torch.tensor([0, -1, 1])}, "d: labels run from -1 to 1"),
    ],
)
def test_a_broken_dataset_is_a_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        Dataset("d", **{"x": torch.zeros(3, 2), "y": Y} | change, num_classes=3)


def test_the_digest_sees_all_of_the_contents_and_only_them() -> None:
    x = torch.arange(12, dtype=torch.uint8).reshape(3, 4)
    base = Dataset("d", x, Y, 3)
    same = Dataset("renamed", x.t().contiguous().t(), Y.clone(), 3)
    assert same.digest() == base.digest()
    assert len(base.digest()) == 64
    others = [
        Dataset("d", x.reshape(3, 2, 2), Y, 3),
        Dataset("d", x + 1, Y, 3),
        Dataset("d", x.long(), Y, 3),
        Dataset("d", x, Y.flip(0), 3),
        Dataset("d", x, Y, 4),
        Dataset("d", x, Y, 3, scale=0.5),
    ]
    assert len({base.digest(), *(other.digest() for other in others)}) == 7


def test_equal_settings_have_equal_fingerprints() -> None:
    assert fingerprint(2, {"a": 1, "b": [0.5]}) == fingerprint(2.0, {"b": (np.float64(0.5),), "a": np.int64(1)})
    assert fingerprint(0.1) != fingerprint("0.1")
    assert fingerprint("a", "b") != fingerprint("ab")
    assert fingerprint(True) != fingerprint(1)
    assert fingerprint(np.arange(3, dtype=">i4")) == fingerprint(np.arange(3, dtype="<i4"))
    with pytest.raises(TypeError, match="set"):
        fingerprint({1})


def test_digits() -> None:
    dataset = Digits().load(None)
    assert (len(dataset), dataset.input_shape, dataset.num_classes) == (1797, (1, 8, 8), 10)
    assert dataset.x.dtype == torch.uint8
    x = dataset.inputs(np.arange(1797))
    assert (x.min().item(), x.max().item()) == (0.0, 1.0)
    assert torch.bincount(dataset.y).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_digits_without_scikit_learn_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(UserError, match=r'pip install "superfed\[digits\]"'):
        Digits().load(None)


def test_the_registry_is_complete_and_says_what_each_dataset_is() -> None:
    assert DATASETS.keys() >= {"digits", "mnist", "cifar10", "synthetic"}
    for entry in DATASETS.values():
        assert dataclasses.is_dataclass(entry.settings)
        assert entry.settings.__dataclass_params__.frozen
        assert len(entry.summary) > 20
    assert isinstance(DATASETS["digits"].settings().load(None), Dataset)
    assert isinstance(DATASETS["synthetic"].settings().load(None), Synthetic)
