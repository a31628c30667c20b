"""The real image files, where they are: counts, checksums and digests of what was read."""

import numpy as np
import pytest

from superfed.data.cifar10 import BATCHES, Cifar10
from superfed.data.cifar100 import Cifar100
from superfed.data.dealt import DealtDataset
from superfed.data.fashion_mnist import FashionMnist
from superfed.data.files import FileDataset
from superfed.data.mnist import Mnist
from superfed.data.mnist_writers import MnistWriters
from superfed.data.pool import Pool
from superfed.data.tiny_imagenet import TinyImageNet
from superfed.data.verify import verify
from support.real_data import root_with

pytestmark = pytest.mark.real_data
MNIST = ("MNIST/raw/train-images-idx3-ubyte", "MNIST/raw/train-labels-idx1-ubyte")


@pytest.mark.parametrize(
    ("settings", "files"),
    [
        (Mnist(), MNIST),
        (FashionMnist(), ("FashionMNIST/raw/train-images-idx3-ubyte", "FashionMNIST/raw/train-labels-idx1-ubyte")),
        (Cifar10(), tuple(f"cifar-10-batches-py/{batch}" for batch in BATCHES)),
        (Cifar100(), ("cifar-100-python/train",)),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_the_files_are_the_published_ones(settings: FileDataset[Pool], files: tuple[str, ...]) -> None:
    lines = verify(settings.find(root_with(*files)), settings.checksums)
    assert [line.partition(": ")[2] for line in lines] == ["as published"] * len(files)


def test_digests_of_mnist_and_cifar10() -> None:
    root = root_with(*MNIST, *(f"cifar-10-batches-py/{batch}" for batch in BATCHES))
    assert Mnist().load(root).digest() == "fed69d537dbe97933c76656c1a511a0bc5668a86bf09d78ff1e689458c5361c3"
    assert Cifar10().load(root).digest() == "f3d501b8776a78e1a38631c7dc93d8f82f57de114f49e49d07c912f5c2719dab"


def test_cifar100() -> None:
    root = root_with("cifar-100-python/train")
    fine, coarse = Cifar100().load(root), Cifar100("coarse").load(root)
    assert tuple(fine.x.shape) == (50_000, 3, 32, 32)
    assert np.bincount(fine.y).tolist() == [500] * 100
    assert np.bincount(coarse.y).tolist() == [2500] * 20
    pairs = set(zip(fine.y.tolist(), coarse.y.tolist(), strict=True))
    assert len(pairs) == 100  # each fine class lies within one coarse class
    means = fine.x.numpy().mean(axis=(0, 2, 3)) / 255
    assert means.tolist() == pytest.approx([0.5071, 0.4865, 0.4409], abs=5e-5)
    assert fine.digest() == "e168d5c9946ef1ecc62fd0eefbe7fcef4ac37d3a9ee3f826a298e706d3e9a808"
    assert coarse.digest() == "7ff594d3ecf6e419ce77cf817e79a28f35a13a84a556f20f7ec1c9864f938aa7"


def test_mnist_writers() -> None:
    dataset = MnistWriters().load(root_with(*MNIST, "MNIST/writers.npz"))
    federation = DealtDataset.deal(dataset)
    assert federation.num_clients == 539
    sizes = [federation.partition.size(client) for client in range(539)]
    assert (sum(sizes), min(sizes), max(sizes)) == (60_000, 19, 131)
    assert federation.client_names is not None
    assert (federation.client_names[0], federation.client_names[-1]) == ("writer 0", "writer 2349")
    assert dataset.digest() == "0074fe95acb1291bd5521a57b4dd54747dda9f043f08aac27d2ada7004a09141"


def test_tiny_imagenet() -> None:
    """The part of it that we have: a whole one has 500 images of each class, and another digest."""
    dataset = TinyImageNet().load(root_with("tiny-imagenet-200/wnids.txt"))
    if len(dataset) != 19_200:
        pytest.skip(f"another part of Tiny-ImageNet: {dataset.note}")
    assert tuple(dataset.x.shape) == (19_200, 3, 64, 64)
    assert np.bincount(dataset.y).tolist() == [96] * 200
    assert dataset.note == "96 of 500 training images per class (19,200 in all)"
    assert dataset.class_names is not None
    assert (len(set(dataset.class_names)), dataset.class_names[0]) == (200, "Egyptian cat")
    assert dataset.digest() == "05716a5e0350c67bced58d299c1f32bbf1edd57a80198d639c404ab1e6ef0966"
