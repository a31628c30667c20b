"""The real files, where they are: counts that everyone knows."""

from collections import Counter

import numpy as np
import pytest

from superfed.data.cifar10 import BATCHES, FOLDER, Cifar10
from superfed.data.dealt import DealtDataset
from superfed.data.mnist import Mnist
from superfed.data.partitions import Pathological
from superfed.data.split import Split
from support.real_data import root_with

pytestmark = pytest.mark.real_data


def test_mnist() -> None:
    dataset = Mnist().load(root_with("MNIST/raw/train-images-idx3-ubyte", "MNIST/raw/train-labels-idx1-ubyte"))
    assert tuple(dataset.x.shape) == (60_000, 1, 28, 28)
    assert np.bincount(dataset.y).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    pixels = dataset.x.numpy() / 255
    assert pixels.mean() == pytest.approx(0.1307, abs=5e-5)
    assert pixels.std() == pytest.approx(0.3081, abs=5e-5)

    # The paper's K = 50: 1,200 images each, 960 of them to train on.
    data = DealtDataset.deal(dataset, Pathological(assignment="cyclic"), 50, split=Split(0.2, 0))
    assert {(data.train_size(i), len(data.test(i))) for i in range(50)} == {(960, 240)}
    x = data.train(0).x
    assert x.shape[1:] == (1, 28, 28)
    assert (x.min().item(), x.max().item()) == (0.0, 1.0)


def test_cifar10() -> None:
    dataset = Cifar10().load(root_with(*(f"{FOLDER}/{batch}" for batch in BATCHES)))
    assert tuple(dataset.x.shape) == (50_000, 3, 32, 32)
    assert np.bincount(dataset.y).tolist() == [5000] * 10
    means = dataset.x.numpy().mean(axis=(0, 2, 3)) / 255
    assert means.tolist() == pytest.approx([0.4914, 0.4822, 0.4465], abs=5e-5)

    data = DealtDataset.deal(dataset, Pathological(assignment="cyclic"), 100)
    labels = dataset.y.numpy()
    pairs = Counter(tuple(np.unique(labels[data.partition.client(i)]).tolist()) for i in range(100))
    assert pairs == {(c, c + 5): 20 for c in range(5)}
