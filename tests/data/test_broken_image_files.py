"""Each way in which an image dataset can be broken, and the exact sentence it gets."""

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from superfed.core.errors import UserError
from superfed.data.cifar10 import Cifar10
from superfed.data.cifar100 import Cifar100
from superfed.data.dataset import Dataset
from superfed.data.fashion_mnist import FashionMnist
from superfed.data.files import FileDataset
from superfed.data.mnist import Mnist
from superfed.data.mnist_writers import MnistWriters
from superfed.data.tiny_imagenet import TinyImageNet
from support.pictures import (
    HUB_FILES,
    cifar100_batch,
    encoded,
    idx,
    pixels,
    put,
    write_cifar100,
    write_idx_pair,
    write_tiny_imagenet,
)

SET_ROOT = "(the data root is set by SUPERFED_DATA or --data-root)"
IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
GREY, COLOUR = pixels(3, 28, 28), pixels(3, 3, 32, 32)
PNG, JPEG = encoded(pixels(32, 32, 3)), encoded(pixels(64, 64, 3), "JPEG")


class Broken(NamedTuple):
    """What is broken, how a whole dataset (in a root of its own) comes to be so, and the sentence ({} is the root)."""

    what: str
    spoil: Callable[[Path], Any]
    sentence: str


def nothing(root: Path) -> None:
    pass


# CIFAR-100


def batch(**changes: Any) -> Callable[[Path], Any]:
    """The batch with some of its entries changed, or without them where they are None."""
    whole = cifar100_batch(COLOUR, [99, 0, 5], [19, 0, 1])
    changed = whole | {key.encode(): value for key, value in changes.items()}
    return lambda root: write_cifar100(root, {key: value for key, value in changed.items() if value is not None})


TRAIN = "{}/cifar-100-python/train"
CIFAR100 = [
    Broken(
        "nothing there",
        nothing,
        f"cifar100: looked for {TRAIN} and in {{}}/hub/uoft-cs/cifar100 and found nothing; run superfed data fetch "
        "cifar100, or get the files of the CIFAR-100 python version of Krizhevsky at the University of Toronto "
        "(cifar-100-python.tar.gz, which torchvision's CIFAR100 class also downloads) and put them in "
        f"{{}}/cifar-100-python {SET_ROOT}",
    ),
    Broken("a list", lambda root: write_cifar100(root, [1]), f"{TRAIN}: holds a list, expected a dict"),
    Broken("no images", batch(data=None), f"{TRAIN}: has no data, which a CIFAR-100 batch holds"),
    Broken("CIFAR-10's", batch(fine_labels=None), f"{TRAIN}: has no fine_labels, which a CIFAR-100 batch holds"),
    Broken("no rows", batch(data=[1, 2, 3]), f"{TRAIN}: its data are not rows of 3072 bytes, one row an image"),
    Broken(
        "small images", batch(data=pixels(3, 300)), f"{TRAIN}: its data are not rows of 3072 bytes, one row an image"
    ),
    Broken(
        "label too high",
        batch(fine_labels=[100, 0, 5]),
        f"{TRAIN}: its fine_labels are not a list of whole numbers from 0 to 99",
    ),
    Broken(
        "half a label",
        batch(fine_labels=[0.5, 0, 5]),
        f"{TRAIN}: its fine_labels are not a list of whole numbers from 0 to 99",
    ),
    Broken("a label missing", batch(fine_labels=[99, 0]), f"{TRAIN}: holds 3 images and 2 fine_labels"),
    Broken("empty", batch(data=pixels(0, 3072), fine_labels=[]), f"{TRAIN}: holds 0 images and 0 fine_labels"),
    Broken(
        "a folder",
        lambda root: (root / "cifar-100-python" / "train").mkdir(parents=True),
        f"cifar100: looked for {TRAIN} and in {{}}/hub/uoft-cs/cifar100 and found nothing; run superfed data fetch "
        "cifar100, or get the files of the CIFAR-100 python version of Krizhevsky at the University of Toronto "
        "(cifar-100-python.tar.gz, which torchvision's CIFAR100 class also downloads) and put them in "
        f"{{}}/cifar-100-python {SET_ROOT}",
    ),
]
COARSE = [
    Broken("no coarse", batch(coarse_labels=None), f"{TRAIN}: has no coarse_labels, which a CIFAR-100 batch holds"),
    Broken(
        "fine for coarse",
        batch(coarse_labels=[99, 0, 5]),
        f"{TRAIN}: its coarse_labels are not a list of whole numbers from 0 to 19",
    ),
]


# Fashion-MNIST and MNIST's writers: MNIST's own files have a table in test_mnist_files


def pair(folder: str, images: bytes, labels: bytes) -> Callable[[Path], Any]:
    return lambda root: (put(root / folder / IMAGES, images), put(root / folder / LABELS, labels))


FASHION = "FashionMNIST/raw"
FOLDER = f"{{}}/{FASHION}"
GOOD_IMAGES, GOOD_LABELS = idx(GREY), idx(np.array([9, 0, 1], dtype=np.uint8))
FASHION_MNIST = [
    Broken(
        "no labels",
        lambda root: put(root / FASHION / IMAGES, GOOD_IMAGES),
        f"fashion_mnist: looked for {FOLDER}/{LABELS}, {FOLDER}/{LABELS}.gz, {{}}/FashionMNIST/{LABELS}, "
        f"{{}}/FashionMNIST/{LABELS}.gz and in {{}}/hub/zalando-datasets/fashion_mnist and found nothing; run superfed "
        f"data fetch fashion_mnist, or get the files of Zalando's Fashion-MNIST ({IMAGES}.gz and {LABELS}.gz, which "
        f"torchvision's FashionMNIST class also downloads) and put them in {FOLDER} {SET_ROOT}",
    ),
    Broken(
        "swapped",
        pair(FASHION, GOOD_LABELS, GOOD_IMAGES),
        f"{FOLDER}/{IMAGES}: begins with 00000801, but such an idx file begins with 00000803",
    ),
    Broken(
        "cut short",
        pair(FASHION, gzip.compress(GOOD_IMAGES)[:-20], GOOD_LABELS),
        f"{FOLDER}/{IMAGES}: the gzip file is cut short; fetch it again",
    ),
    Broken(
        "a label missing",
        pair(FASHION, GOOD_IMAGES, idx(np.array([9, 0], dtype=np.uint8))),
        f"{FOLDER}/{LABELS}: holds 2 labels for the 3 images of {FOLDER}/{IMAGES}",
    ),
    Broken(
        "label too high",
        pair(FASHION, GOOD_IMAGES, idx(np.array([10, 0, 1], dtype=np.uint8))),
        f"{FOLDER}/{LABELS}: holds the label 10, but Fashion-MNIST's labels are 0 to 9",
    ),
]


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def writers(content: bytes | None) -> Callable[[Path], Any]:
    def spoil(root: Path) -> None:
        write_idx_pair(root / "MNIST" / "raw", GREY, [9, 0, 1])
        if content is not None:
            put(root / "MNIST" / "writers.npz", content)

    return spoil


NPZ = "{}/MNIST/writers.npz"
MANY = npz(train_writer=np.arange(3, dtype=np.int16), test_writer=np.arange(1000))
PICKLED = (
    f"{NPZ}: its array 'train_writer' holds pickled Python objects, which are not loaded; save plain numbers or text"
)
NOT_WHOLE = f"{NPZ}: is no .npz file or a damaged one; write it again with numpy.savez"
NOT_NUMBERS = f"{NPZ}: its array 'train_writer' is not one whole number for each image"
WRITERS = [
    Broken(
        "no writers",
        writers(None),
        f"mnist_writers: looked for {NPZ} and found nothing; it must hold an array 'train_writer' with a whole number "
        "for each of MNIST's training images, the writer's, which QMNIST's labels give; save it by numpy.savez "
        f"{SET_ROOT}",
    ),
    Broken(
        "no images",
        lambda root: put(root / "MNIST" / "raw" / LABELS, GOOD_LABELS),
        "mnist_writers: looked for "
        + ", ".join(f"{place}/{IMAGES}{end}" for place in ("{}/MNIST/raw", "{}/MNIST", "{}") for end in ("", ".gz"))
        + f" and found nothing; get the files of the MNIST database of LeCun, Cortes and Burges ({IMAGES}.gz and "
        f"{LABELS}.gz, which torchvision's MNIST class also downloads) and put them in {{}}/MNIST/raw {SET_ROOT}",
    ),
    Broken("cut short", writers(MANY[:-40]), NOT_WHOLE),
    Broken("damaged within", writers(MANY[:60] + b"\xff" * 20 + MANY[80:]), NOT_WHOLE),
    Broken("a web page", writers(b"<html>"), NOT_WHOLE),
    Broken("an empty file", writers(b""), NOT_WHOLE),
    Broken("one array alone", writers(npy(np.arange(3))), NOT_WHOLE),
    Broken("objects", writers(npz(train_writer=np.array([None, 1, 2]))), PICKLED),
    Broken(
        "other arrays",
        writers(npz(test_writer=np.arange(3), hsf=np.arange(3))),
        f"{NPZ}: has no array 'train_writer', only test_writer, hsf",
    ),
    Broken("no arrays", writers(npz()), f"{NPZ}: is empty"),
    Broken(
        "another length",
        writers(npz(train_writer=np.arange(4))),
        f"{NPZ}: holds 4 writers for the 3 images of {{}}/MNIST/raw/{IMAGES}",
    ),
    Broken("fractions", writers(npz(train_writer=np.array([0.5, 1, 2]))), NOT_NUMBERS),
    Broken("words", writers(npz(train_writer=np.array(["a", "b", "c"]))), NOT_NUMBERS),
    Broken("a table", writers(npz(train_writer=np.zeros((3, 2), dtype=int))), NOT_NUMBERS),
    Broken("one number", writers(npz(train_writer=np.array(3))), NOT_NUMBERS),
]


# Tiny-ImageNet

CAT, FISH = "n02124075", "n01443537"
SECOND = f"train/{CAT}/images/{CAT}_1.JPEG"


def tiny(spoil: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """``spoil`` gets the whole folder."""

    def whole(root: Path) -> None:
        images = [pixels(64, 64, 3, seed=i) for i in range(2)]
        spoil(write_tiny_imagenet(root, {CAT: images, FISH: images}))

    return whole


def emptied(folder: Path) -> None:
    for path in (folder / "train" / FISH / "images").iterdir():
        path.rename(path.with_suffix(".txt"))


def folder_for_image(folder: Path) -> None:
    (folder / SECOND).unlink()
    (folder / SECOND).mkdir()


AT = "{}/tiny-imagenet-200"
NO_CLASSES = (
    f"tiny_imagenet: looked for {AT}/wnids.txt and in {{}}/hub/zh-plus/tiny-imagenet and found nothing; run superfed "
    f"data fetch tiny_imagenet, or get the files of Stanford's Tiny-ImageNet (tiny-imagenet-200.zip) and put them in "
    f"{AT} {SET_ROOT}"
)
NO_IMAGES = f"{AT}/train/{FISH}/images: has no .JPEG files, but wnids.txt names that class; unpack it again"
TINY = [
    Broken("no folder", nothing, NO_CLASSES),
    Broken("no wnids.txt", tiny(lambda folder: (folder / "wnids.txt").unlink()), NO_CLASSES),
    Broken(
        "a class folder missing",
        tiny(lambda folder: (folder / "train" / FISH).rename(folder / "elsewhere")),
        NO_IMAGES,
    ),
    Broken("a class folder empty", tiny(emptied), NO_IMAGES),
    Broken(
        "a class listed twice",
        tiny(lambda folder: put(folder / "wnids.txt", f"{CAT}\n{FISH}\n{CAT}\n".encode())),
        f"{AT}/wnids.txt: line 3 is {CAT}, which is there already",
    ),
    Broken(
        "no class",
        tiny(lambda folder: put(folder / "wnids.txt", f"{CAT}\n../../home\n".encode())),
        f"{AT}/wnids.txt: line 2 is '../../home', expected the id of a class such as n02124075",
    ),
    Broken(
        "an empty line",
        tiny(lambda folder: put(folder / "wnids.txt", f"{CAT}\n\n{FISH}\n".encode())),
        f"{AT}/wnids.txt: line 2 is '', expected the id of a class such as n02124075",
    ),
    Broken("no classes", tiny(lambda folder: put(folder / "wnids.txt", b"\n")), f"{AT}/wnids.txt: holds no classes"),
    Broken(
        "wnids.txt is no text",
        tiny(lambda folder: put(folder / "wnids.txt", b"\xff\xfe")),
        f"{AT}/wnids.txt: is not a text file; unpack it again",
    ),
    Broken(
        "words.txt is no text",
        tiny(lambda folder: put(folder / "words.txt", b"\xff\xfe")),
        f"{AT}/words.txt: is not a text file; unpack it again",
    ),
    Broken(
        "a JPEG cut short",
        tiny(lambda folder: put(folder / SECOND, JPEG[:1000])),
        f"{AT}/{SECOND}: is a damaged image; fetch it again",
    ),
    Broken(
        "a JPEG cut at its end",
        tiny(lambda folder: put(folder / SECOND, JPEG[:-100])),
        f"{AT}/{SECOND}: is a damaged image; fetch it again",
    ),
    Broken(
        "no image",
        tiny(lambda folder: put(folder / SECOND, b"<html>")),
        f"{AT}/{SECOND}: is not a JPEG or PNG image; fetch it again",
    ),
    Broken(
        "an empty image",
        tiny(lambda folder: put(folder / SECOND, b"")),
        f"{AT}/{SECOND}: is not a JPEG or PNG image; fetch it again",
    ),
    Broken(
        "another size",
        tiny(lambda folder: put(folder / SECOND, encoded(pixels(60, 64, 3), "JPEG"))),
        f"{AT}/{SECOND}: is an image of 64×60 pixels, expected 64×64",
    ),
    Broken("a folder for an image", tiny(folder_for_image), f"{AT}/{SECOND}: cannot be read: Is a directory"),
]


# The hub's files


def table(name: str, **columns: Any) -> Callable[[Path], Any]:
    def spoil(root: Path) -> None:
        path = root / "hub" / HUB_FILES[name]
        path.parent.mkdir(parents=True)
        pyarrow.parquet.write_table(pyarrow.table(columns), path)

    return spoil


def image(content: bytes | None, path: str | None = None) -> dict[str, Any]:
    return {"bytes": content, "path": path}


CIFAR10_HUB = f"{{}}/hub/{HUB_FILES['cifar10']}"
GOOD = [image(PNG), image(PNG)]
FROM_HUB = [
    Broken(
        "other columns",
        table("cifar10", image=GOOD, label=[0, 9]),
        f"{CIFAR10_HUB}: has no column 'img', only image, label",
    ),
    Broken(
        "CIFAR-100's labels",
        table("cifar10", img=GOOD, fine_label=[0, 9], coarse_label=[0, 9]),
        f"{CIFAR10_HUB}: has no column 'label', only img, fine_label, coarse_label",
    ),
    Broken("no label", table("cifar10", img=GOOD, label=[0, None]), f"{CIFAR10_HUB}, row 1 of 'label': is empty"),
    Broken(
        "label too high",
        table("cifar10", img=GOOD, label=[0, 10]),
        f"{CIFAR10_HUB}, row 1 of 'label': holds 10, expected a whole number from 0 to 9",
    ),
    Broken(
        "a hidden label",
        table("cifar10", img=GOOD, label=[-1, -1]),
        f"{CIFAR10_HUB}, row 0 of 'label': holds -1, expected a whole number from 0 to 9",
    ),
    Broken(
        "labels in words",
        table("cifar10", img=GOOD, label=["cat", "dog"]),
        f"{CIFAR10_HUB}, row 0 of 'label': holds 'cat', expected a whole number from 0 to 9",
    ),
    Broken(
        "no image", table("cifar10", img=[image(PNG), None], label=[0, 9]), f"{CIFAR10_HUB}, row 1 of 'img': is empty"
    ),
    Broken(
        "an image elsewhere",
        table("cifar10", img=[image(PNG), image(None, "/home/me/1.png")], label=[0, 9]),
        f"{CIFAR10_HUB}, row 1 of 'img': has no bytes of an image; fetch it again",
    ),
    Broken(
        "paths alone",
        table("cifar10", img=[{"path": "1.png"}, {"path": "2.png"}], label=[0, 9]),
        f"{CIFAR10_HUB}, row 0 of 'img': has no bytes of an image; fetch it again",
    ),
    Broken(
        "numbers for images",
        table("cifar10", img=[1, 2], label=[0, 9]),
        f"{CIFAR10_HUB}, row 0 of 'img': has no bytes of an image; fetch it again",
    ),
    Broken(
        "damaged",
        table("cifar10", img=[image(PNG), image(PNG[:500])], label=[0, 9]),
        f"{CIFAR10_HUB}, row 1 of 'img': is a damaged image; fetch it again",
    ),
    Broken(
        "text",
        table("cifar10", img=[image(b"text"), image(PNG)], label=[0, 9]),
        f"{CIFAR10_HUB}, row 0 of 'img': is not a JPEG or PNG image; fetch it again",
    ),
    Broken(
        "another size",
        table("cifar10", img=[image(PNG), image(encoded(pixels(32, 28, 3)))], label=[0, 9]),
        f"{CIFAR10_HUB}, row 1 of 'img': is an image of 28×32 pixels, expected 32×32",
    ),
    Broken(
        "no rows",
        table(
            "cifar10",
            img=pyarrow.array([], pyarrow.struct({"bytes": pyarrow.binary(), "path": pyarrow.string()})),
            label=pyarrow.array([], pyarrow.int64()),
        ),
        f"{CIFAR10_HUB}: holds no images",
    ),
]
OTHERS_FROM_HUB: list[tuple[FileDataset[Dataset], Broken]] = [
    (
        Mnist(),
        Broken(
            "in CIFAR's size",
            table("mnist", image=GOOD, label=[0, 9]),
            f"{{}}/hub/{HUB_FILES['mnist']}, row 0 of 'image': is an image of 32×32 pixels, expected 28×28",
        ),
    ),
    (
        FashionMnist(),
        Broken(
            "label too high",
            table("fashion_mnist", image=GOOD, label=[0, 10]),
            f"{{}}/hub/{HUB_FILES['fashion_mnist']}, row 1 of 'label': holds 10, expected a whole number from 0 to 9",
        ),
    ),
    (
        Cifar100(),
        Broken(
            "CIFAR-10's",
            table("cifar100", img=GOOD, label=[0, 9]),
            f"{{}}/hub/{HUB_FILES['cifar100']}: has no column 'fine_label', only img, label",
        ),
    ),
    (
        Cifar100("coarse"),
        Broken(
            "label too high",
            table("cifar100", img=GOOD, fine_label=[0, 99], coarse_label=[0, 20]),
            f"{{}}/hub/{HUB_FILES['cifar100']}, row 1 of 'coarse_label': holds 20, expected a whole number from 0 to 19",
        ),
    ),
    (
        TinyImageNet(),
        Broken(
            "label too high",
            table("tiny_imagenet", image=GOOD, label=[0, 200]),
            f"{{}}/hub/{HUB_FILES['tiny_imagenet']}, row 1 of 'label': holds 200, expected a whole number from 0 to 199",
        ),
    ),
]

TABLES: list[tuple[FileDataset[Dataset], list[Broken]]] = [
    (Cifar100(), CIFAR100),
    (Cifar100("coarse"), COARSE),
    (FashionMnist(), FASHION_MNIST),
    (MnistWriters(), WRITERS),
    (TinyImageNet(), TINY),
    (Cifar10(), FROM_HUB),
]
ROWS = [(settings, row) for settings, rows in TABLES for row in rows] + OTHERS_FROM_HUB


@pytest.mark.parametrize(("settings", "row"), ROWS, ids=[f"{settings.key}: {row.what}" for settings, row in ROWS])
def test_what_is_broken_gets_its_sentence(tmp_path: Path, settings: FileDataset[Dataset], row: Broken) -> None:
    row.spoil(tmp_path)
    with pytest.raises(UserError) as caught:
        settings.load(tmp_path)
    assert str(caught.value) == row.sentence.replace("{}", str(tmp_path))


@pytest.mark.parametrize("settings", [Cifar100(), FashionMnist(), MnistWriters(), TinyImageNet()], ids=lambda s: s.key)
def test_without_a_root_the_sentence_says_so(settings: FileDataset[Dataset]) -> None:
    with pytest.raises(UserError, match=rf"^{settings.key}: no data root is set; .*SUPERFED_DATA or --data-root$"):
        settings.load(None)


def test_tiny_imagenet_without_pillow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_tiny_imagenet(tmp_path, {CAT: [pixels(64, 64, 3)]})
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(UserError) as caught:
        TinyImageNet().load(tmp_path)
    first = folder / "train" / CAT / "images" / f"{CAT}_0.JPEG"
    assert str(caught.value) == f'{first}: reading this image needs Pillow; run pip install "superfed[images]"'


def test_a_damaged_table_is_a_sentence(tmp_path: Path) -> None:
    path = put(tmp_path / "hub" / HUB_FILES["mnist"], b"PAR1 and no more")
    with pytest.raises(UserError, match=r": cannot be read as Parquet \(.*\); fetch it again$") as caught:
        Mnist().load(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")
