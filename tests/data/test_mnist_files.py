"""MNIST's files, whole and broken, made small in the exact format."""

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch

from superfed.core.errors import UserError
from superfed.data.idx_images import IMAGES, LABELS
from superfed.data.mnist import Mnist

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype=np.uint8)
PIXELS[0, 0, :2] = (0, 255)
DIGITS = np.array([3, 0, 9, 1, 4], dtype=np.uint8)


def idx(array: npt.NDArray[np.uint8]) -> bytes:
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def write(folder: Path, images: bytes | None, labels: bytes | None, ending: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in ((IMAGES, images), (LABELS, labels)):
        if content is not None:
            (folder / f"{name}{ending}").write_bytes(content)


@pytest.mark.parametrize("folder", ["MNIST/raw", "MNIST", "."])
@pytest.mark.parametrize("packed", [False, True])
def test_whole_files_are_read(tmp_path: Path, folder: str, packed: bool) -> None:
    images, labels = (gzip.compress(b) if packed else b for b in (idx(PIXELS), idx(DIGITS)))
    write(tmp_path / folder, images, labels, ".gz" if packed else "")
    dataset = Mnist().load(tmp_path)
    assert dataset.input_shape == (1, 28, 28)
    assert dataset.num_classes == 10
    assert dataset.x.dtype == torch.uint8
    assert np.array_equal(dataset.x.numpy()[:, 0], PIXELS)
    assert dataset.y.tolist() == DIGITS.tolist()
    x = dataset.inputs(np.array([0, 2]))
    assert x.dtype == torch.float32
    assert x[0, 0, 0, :2].tolist() == [0.0, 1.0]


def test_the_name_does_not_decide_whether_a_file_is_packed(tmp_path: Path) -> None:
    write(tmp_path, gzip.compress(idx(PIXELS)), gzip.compress(idx(DIGITS)))
    assert len(Mnist().load(tmp_path)) == 5


def test_the_test_files_are_not_looked_at(tmp_path: Path) -> None:
    write(tmp_path, idx(PIXELS), idx(DIGITS))
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(b"broken")
    assert len(Mnist().load(tmp_path)) == 5


def replaced(content: bytes, at: int, by: bytes) -> bytes:
    return content[:at] + by + content[at + len(by) :]


GOOD_IMAGES, GOOD_LABELS = idx(PIXELS), idx(DIGITS)
PACKED = gzip.compress(GOOD_IMAGES)

BROKEN: list[tuple[str, bytes, bytes, str, str]] = [
    ("cut within gzip", PACKED[:-100], GOOD_LABELS, IMAGES, "the gzip file is cut short"),
    ("cut in gzip's tail", PACKED[:-4], GOOD_LABELS, IMAGES, "the gzip file is cut short"),
    ("gzip checksum", replaced(PACKED, len(PACKED) - 8, b"abcd"), GOOD_LABELS, IMAGES, "the gzip file is damaged"),
    ("gzip body", replaced(PACKED, 10, b"\xff" * 40), GOOD_LABELS, IMAGES, "the gzip file is damaged"),
    ("after gzip", PACKED + b"more", GOOD_LABELS, IMAGES, "the gzip file is damaged"),
    ("wrong magic", b"\x89PNG" + GOOD_IMAGES, GOOD_LABELS, IMAGES, "begins with 89504e47, but such an idx file begins"),
    ("a web page", b"<html>", GOOD_LABELS, IMAGES, "begins with 3c68746d, but such an idx file begins with 00000803"),
    ("swapped", GOOD_LABELS, GOOD_IMAGES, IMAGES, "begins with 00000801, but such an idx file begins with 00000803"),
    ("empty", b"", GOOD_LABELS, IMAGES, "begins with nothing"),
    ("header cut", GOOD_IMAGES[:10], GOOD_LABELS, IMAGES, "ends within its header"),
    ("bytes missing", GOOD_IMAGES[:-1], GOOD_LABELS, IMAGES, "promises 5 items in 3920 bytes, but only 3919"),
    ("bytes left over", GOOD_IMAGES + b"\0", GOOD_LABELS, IMAGES, "has bytes after the 5 items its header promises"),
    ("a vast promise", replaced(GOOD_IMAGES, 4, b"\xff" * 4), GOOD_LABELS, IMAGES, "but only 3920 bytes are there"),
    ("other pictures", idx(PIXELS[:, :8, :8]), GOOD_LABELS, IMAGES, r"items of shape \(8, 8\), expected \(28, 28\)"),
    ("labels missing", GOOD_IMAGES, idx(DIGITS[:4]), LABELS, "holds 4 labels for the 5 images of .*train-images"),
    (
        "label too high",
        GOOD_IMAGES,
        idx(DIGITS + np.uint8(1)),
        LABELS,
        "holds the label 10, but MNIST's labels are 0 to",
    ),
    ("label bytes", GOOD_IMAGES, GOOD_LABELS + b"\0\0", LABELS, "has bytes after the 5 items"),
    ("no items", idx(PIXELS[:0]), idx(DIGITS[:0]), IMAGES, "holds no items"),
]


@pytest.mark.parametrize(
    ("images", "labels", "culprit", "sentence"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN]
)
def test_a_broken_file_is_a_sentence_that_names_it(
    tmp_path: Path, images: bytes, labels: bytes, culprit: str, sentence: str
) -> None:
    write(tmp_path, images, labels)
    with pytest.raises(UserError, match=sentence) as caught:
        Mnist().load(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / culprit}: ")
    assert "\n" not in str(caught.value)


def test_missing_files_are_named_with_every_place_looked_in(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        Mnist().load(tmp_path)
    sentence = str(caught.value)
    for name in (IMAGES, LABELS):
        for folder in (tmp_path / "MNIST" / "raw", tmp_path / "MNIST", tmp_path):
            assert f"{folder / name}, " in sentence
            assert f"{folder / name}.gz" in sentence
    assert "LeCun" in sentence
    assert f"put them in {tmp_path / 'MNIST' / 'raw'}" in sentence
    assert "SUPERFED_DATA or --data-root" in sentence


def test_only_what_is_missing_is_named(tmp_path: Path) -> None:
    write(tmp_path, GOOD_IMAGES, None)
    with pytest.raises(UserError) as caught:
        Mnist().load(tmp_path)
    assert str(tmp_path / LABELS) in str(caught.value)
    assert str(tmp_path / IMAGES) not in str(caught.value)


def test_without_a_root_the_sentence_says_so() -> None:
    with pytest.raises(UserError, match=r"mnist: no data root is set; .*MNIST/raw.*SUPERFED_DATA or --data-root"):
        Mnist().load(None)


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD_IMAGES, GOOD_LABELS)

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    for target in ("builtins.open", "pathlib.Path.is_file"):
        with monkeypatch.context() as patch:
            refuse: Callable[..., None] = forbidden
            patch.setattr(target, refuse)
            with pytest.raises(UserError, match=r"train-images-idx3-ubyte: cannot be read: Permission denied"):
                Mnist().load(tmp_path)
