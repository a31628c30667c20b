"""Image datasets from small whole files in the exact formats, and the same from the hub's."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch

from superfed.core.errors import SettingError
from superfed.data.cifar10 import Cifar10
from superfed.data.cifar100 import Cifar100
from superfed.data.dataset import Dataset
from superfed.data.dealt import DealtDataset
from superfed.data.fashion_mnist import FashionMnist
from superfed.data.files import FileDataset, Found
from superfed.data.mnist import Mnist
from superfed.data.mnist_writers import MnistWriters
from superfed.data.tiny_imagenet import TinyImageNet
from support.pictures import (
    Pixels,
    cifar100_batch,
    decoded,
    encoded,
    idx,
    pixels,
    put,
    write_cifar100,
    write_hub,
    write_idx_pair,
    write_tiny_imagenet,
)

GREY, COLOUR = pixels(5, 28, 28), pixels(5, 3, 32, 32)
DIGITS = [3, 0, 9, 1, 4]


def channels_last(image: Pixels) -> Pixels:
    return np.ascontiguousarray(image.transpose(1, 2, 0))


@pytest.mark.parametrize(("labels", "num_classes", "expected"), [("fine", 100, [99, 0, 5]), ("coarse", 20, [19, 0, 1])])
def test_cifar100(tmp_path: Path, labels: Any, num_classes: int, expected: list[int]) -> None:
    write_cifar100(tmp_path, cifar100_batch(COLOUR[:3], [99, 0, 5], [19, 0, 1]))
    dataset = Cifar100(labels).load(tmp_path)
    assert (dataset.name, dataset.num_classes, dataset.input_shape) == ("cifar100", num_classes, (3, 32, 32))
    assert np.array_equal(dataset.x.numpy(), COLOUR[:3])
    assert dataset.y.tolist() == expected
    assert dataset.inputs(np.arange(3)).max() <= 1


def test_cifar100_has_two_kinds_of_labels() -> None:
    with pytest.raises(SettingError, match="labels: must be 'fine' or 'coarse', got 'rough'"):
        Cifar100("rough")  # type: ignore[arg-type]


@pytest.mark.parametrize("folder", ["FashionMNIST/raw", "FashionMNIST"])
@pytest.mark.parametrize("packed", [False, True])
def test_fashion_mnist(tmp_path: Path, folder: str, packed: bool) -> None:
    pack: Callable[[bytes], bytes] = gzip.compress if packed else bytes
    ending = ".gz" if packed else ""
    put(tmp_path / folder / f"train-images-idx3-ubyte{ending}", pack(idx(GREY)))
    put(tmp_path / folder / f"train-labels-idx1-ubyte{ending}", pack(idx(np.array(DIGITS, dtype=np.uint8))))
    dataset = FashionMnist().load(tmp_path)
    assert (dataset.name, dataset.num_classes, dataset.input_shape) == ("fashion_mnist", 10, (1, 28, 28))
    assert np.array_equal(dataset.x.numpy()[:, 0], GREY)
    assert dataset.y.tolist() == DIGITS


def test_mnist_and_fashion_mnist_are_never_taken_for_each_other(tmp_path: Path) -> None:
    write_idx_pair(tmp_path / "MNIST" / "raw", GREY[:2], [1, 2])
    write_idx_pair(tmp_path / "FashionMNIST" / "raw", GREY[2:], [3, 4, 5])
    assert (len(Mnist().load(tmp_path)), len(FashionMnist().load(tmp_path))) == (2, 3)


@pytest.mark.parametrize("kind", [np.int16, np.uint8, np.int64, ">i4"])
def test_writers_of_mnist_are_natural_clients(tmp_path: Path, kind: Any) -> None:
    write_idx_pair(tmp_path / "MNIST" / "raw", GREY, DIGITS)
    writers = np.array([17, 2, 17, 101, 2], dtype=kind)
    np.savez_compressed(tmp_path / "MNIST" / "writers.npz", train_writer=writers, test_writer=writers[:1])
    dataset = MnistWriters().load(tmp_path)
    assert dataset.name == "mnist_writers"
    assert np.array_equal(dataset.x.numpy()[:, 0], GREY)
    assert dataset.owners is not None
    assert dataset.owners.names == ["writer 2", "writer 17", "writer 101"]
    assert dataset.owners.of.tolist() == [1, 0, 1, 2, 0]
    federation = DealtDataset.deal(dataset)
    assert federation.client_names == ["writer 2", "writer 17", "writer 101"]
    assert federation.partition.client(1).tolist() == [0, 2]


CLASSES = {
    "n02124075": [pixels(64, 64, 3, seed=1), pixels(64, 64, seed=2)],  # one in colour, one grey
    "n01443537": [pixels(64, 64, 3, seed=3)],
    "n04067472": [pixels(64, 64, 3, seed=4)],
}


def test_tiny_imagenet(tmp_path: Path) -> None:
    folder = write_tiny_imagenet(tmp_path, CLASSES)
    ticks: list[tuple[int, int]] = []
    found = TinyImageNet().find(tmp_path)
    dataset = TinyImageNet().read(found, lambda done, total: ticks.append((done, total)))
    assert (dataset.name, dataset.num_classes, dataset.input_shape) == ("tiny_imagenet", 3, (3, 64, 64))
    assert dataset.x.dtype == torch.uint8
    assert dataset.x.is_contiguous()
    assert dataset.y.tolist() == [0, 0, 1, 2]
    assert dataset.class_names == list(CLASSES)
    assert ticks == [(1, 4), (2, 4), (3, 4), (4, 4)]
    for image, path in zip(dataset.x.numpy(), found.files[1:], strict=True):
        assert np.array_equal(channels_last(image), decoded(path.read_bytes()))
    grey = dataset.x[1]
    assert torch.equal(grey[0], grey[1])
    assert torch.equal(grey[0], grey[2])

    put(folder / "words.txt", b"n00001740\tentity\nn02124075\tEgyptian cat\nn01443537\tgoldfish, Carassius auratus\n")
    named = TinyImageNet().load(tmp_path)
    assert named.class_names == ["Egyptian cat", "goldfish, Carassius auratus", "n04067472"]
    assert named.digest() == dataset.digest()


def test_tiny_imagenet_says_how_much_of_it_there_is(tmp_path: Path) -> None:
    write_tiny_imagenet(tmp_path / "ragged", CLASSES)
    note = TinyImageNet().load(tmp_path / "ragged").note
    assert note == "between 1 and 2 of 500 training images per class (4 in all)"
    write_tiny_imagenet(tmp_path / "even", {wnid: images[:1] for wnid, images in CLASSES.items()})
    even = TinyImageNet().load(tmp_path / "even")
    assert even.note == "1 of 500 training images per class (3 in all)"
    assert Dataset.unpack(even.pack()).note == even.note
    assert Dataset.unpack(Dataset("d", even.x, even.y, 3).pack()).note is None


def test_tiny_imagenets_first_images_of_each_class(tmp_path: Path) -> None:
    images = tmp_path / "tiny-imagenet-200" / "train" / "n01443537" / "images"
    write_tiny_imagenet(tmp_path, {"n01443537": []})
    for number in (0, 1, 2, 10, 100):
        put(images / f"n01443537_{number}.JPEG", encoded(pixels(64, 64, 3), "JPEG"))
    put(images / "another.JPEG", encoded(pixels(64, 64, 3), "JPEG"))
    chosen = TinyImageNet(per_class=4).find(tmp_path).files[1:]
    assert [path.stem for path in chosen] == ["n01443537_0", "n01443537_1", "n01443537_10", "n01443537_2"]
    assert len(TinyImageNet(per_class=6).load(tmp_path)) == len(TinyImageNet().load(tmp_path)) == 6
    with pytest.raises(SettingError, match="per_class: 7 images of each class are wanted, and n01443537 has 6"):
        TinyImageNet(per_class=7).find(tmp_path)
    with pytest.raises(SettingError, match="per_class: must be a whole number from 1 to 500, got 501"):
        TinyImageNet(per_class=501)


def test_the_hubs_first_images_of_each_class(tmp_path: Path) -> None:
    jpegs = [encoded(pixels(64, 64, 3), "JPEG") for _ in range(5)]
    write_hub(tmp_path, "tiny_imagenet", {"image": jpegs, "label": [1, 0, 1, 0, 1]})
    with pytest.raises(SettingError, match="per_class: 1 images of each class are wanted, and class 2 has 0"):
        TinyImageNet(per_class=1).load(tmp_path)
    x = torch.arange(7)
    kept, labels = TinyImageNet(per_class=1)._first(
        torch.cat([x, torch.arange(200)]), torch.cat([x % 2, torch.arange(200)])
    )
    assert kept.tolist() == [0, 1, *range(2, 200)]
    assert labels.tolist() == [0, 1, *range(2, 200)]


def test_tiny_imagenet_takes_files_as_other_systems_write_them(tmp_path: Path) -> None:
    folder = write_tiny_imagenet(tmp_path, CLASSES)
    put(folder / "wnids.txt", "\r\n".join([*CLASSES, "", ""]).encode())
    put(folder / "train" / "n01443537" / "images" / ".DS_Store", b"\0")
    assert TinyImageNet().load(tmp_path).y.tolist() == [0, 0, 1, 2]


HUB: list[tuple[str, FileDataset[Dataset], dict[str, list[Any]], Pixels, int]] = [
    ("mnist", Mnist(), {"image": [encoded(i) for i in GREY], "label": DIGITS}, GREY[:, None], 10),
    ("fashion_mnist", FashionMnist(), {"image": [encoded(i) for i in GREY], "label": DIGITS}, GREY[:, None], 10),
    ("cifar10", Cifar10(), {"img": [encoded(channels_last(i)) for i in COLOUR], "label": DIGITS}, COLOUR, 10),
    (
        "cifar100",
        Cifar100(),
        {"img": [encoded(channels_last(i)) for i in COLOUR], "fine_label": DIGITS, "coarse_label": DIGITS[::-1]},
        COLOUR,
        100,
    ),
    (
        "cifar100",
        Cifar100("coarse"),
        {"img": [encoded(channels_last(i)) for i in COLOUR], "fine_label": DIGITS[::-1], "coarse_label": DIGITS},
        COLOUR,
        20,
    ),
]


@pytest.mark.parametrize(("name", "settings", "columns", "images", "num_classes"), HUB)
def test_the_hubs_files_serve_as_well(
    tmp_path: Path,
    name: str,
    settings: FileDataset[Dataset],
    columns: dict[str, list[Any]],
    images: Pixels,
    num_classes: int,
) -> None:
    path = write_hub(tmp_path, name, columns)
    assert settings.find(tmp_path) == Found("hub", (path,))
    dataset = settings.load(tmp_path)
    assert (dataset.name, dataset.num_classes) == (name, num_classes)
    assert np.array_equal(dataset.x.numpy(), images)
    assert dataset.y.tolist() == DIGITS


def test_tiny_imagenet_from_the_hub(tmp_path: Path) -> None:
    jpegs = [encoded(pixels(64, 64, 3), "JPEG"), encoded(pixels(64, 64), "JPEG")]
    write_hub(tmp_path, "tiny_imagenet", {"image": jpegs, "label": [199, 0]})
    dataset = TinyImageNet().load(tmp_path)
    assert (dataset.num_classes, dataset.input_shape, dataset.y.tolist()) == (200, (3, 64, 64), [199, 0])
    assert np.array_equal(channels_last(dataset.x[0].numpy()), decoded(jpegs[0]))
    assert dataset.note == "between 0 and 1 of 500 training images per class (2 in all)"


def test_both_layouts_are_one_dataset(tmp_path: Path) -> None:
    write_idx_pair(tmp_path / "files" / "MNIST" / "raw", GREY, DIGITS)
    write_hub(tmp_path / "fetched", "mnist", HUB[0][2])
    assert Mnist().load(tmp_path / "files").digest() == Mnist().load(tmp_path / "fetched").digest()


def test_the_usual_files_come_before_the_hubs(tmp_path: Path) -> None:
    write_hub(tmp_path, "mnist", HUB[0][2])
    put(tmp_path / "MNIST" / "raw" / "train-images-idx3-ubyte", idx(GREY[:2]))
    assert Mnist().find(tmp_path).layout == "hub"  # half a pair is none
    write_idx_pair(tmp_path / "MNIST" / "raw", GREY[:2], [1, 2])
    assert Mnist().find(tmp_path).layout == "files"
    assert len(Mnist().load(tmp_path)) == 2


def test_a_table_in_several_files_is_read_in_order_with_ticks(tmp_path: Path) -> None:
    folder = tmp_path / "hub" / "ylecun" / "mnist" / "mnist"
    folder.mkdir(parents=True)
    for part, rows in enumerate([slice(0, 2), slice(2, 5)]):
        images = [{"bytes": encoded(image), "path": None} for image in GREY[rows]]
        table = pyarrow.table({"image": images, "label": DIGITS[rows]})
        pyarrow.parquet.write_table(table, folder / f"train-0000{part}-of-00002.parquet")
    (folder / "test-00000-of-00001.parquet").write_bytes(b"not looked at")
    ticks: list[tuple[int, int]] = []
    dataset = Mnist().read(Mnist().find(tmp_path), lambda done, total: ticks.append((done, total)))
    assert np.array_equal(dataset.x.numpy()[:, 0], GREY)
    assert dataset.y.tolist() == DIGITS
    assert ticks == [(done, 5) for done in range(1, 6)]
