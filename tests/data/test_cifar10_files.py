"""CIFAR-10's files are pickles: the true format is read, and nothing a pickle asks for is run."""

import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from superfed.core.errors import UserError
from superfed.data.array_pickle import load_arrays
from superfed.data.cifar10 import BATCHES, FOLDER, Cifar10

Images = npt.NDArray[np.uint8]


def python2_batch(images: Images, labels: list[int], module: str = "numpy.core.multiarray") -> bytes:
    """The opcodes of the official files, as Python 2 wrote them: strings without an encoding, old module names."""

    def short(text: bytes) -> bytes:
        return b"U" + bytes([len(text)]) + text

    number = struct.Struct("<ci").pack
    dtype = (
        b"cnumpy\ndtype\n("
        + short(b"u1")
        + b"K\x00K\x01tR(K\x03"
        + short(b"|")
        + b"NNN"
        + number(b"J", -1) * 2
        + b"K\x00tb"
    )
    shape = number(b"J", images.shape[0]) + number(b"J", images.shape[1]) + b"\x86"
    array = (
        b"c" + module.encode() + b"\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + short(b"b") + b"\x87R"
        b"(K\x01" + shape + dtype + b"\x89" + number(b"T", images.nbytes) + images.tobytes() + b"tb"
    )
    listed = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    return b"\x80\x02}(" + short(b"labels") + listed + short(b"data") + array + b"u."


def python3_batch(protocol: int) -> Callable[[Images, list[int]], bytes]:
    return lambda images, labels: pickle.dumps({b"data": images, b"labels": labels}, protocol=protocol)


def old_numpy_batch(images: Images, labels: list[int]) -> bytes:
    content = python3_batch(2)(images, labels)
    assert content.count(b"numpy._core.multiarray") in (0, 1)
    return content.replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


WRITERS: dict[str, Callable[..., bytes]] = {
    "python 2": python2_batch,
    "python 2, new numpy": lambda images, labels: python2_batch(images, labels, "numpy._core.multiarray"),
    "old numpy": old_numpy_batch,
    **{f"protocol {p}": python3_batch(p) for p in (0, 1, 2, 3, 4, 5)},
}


def some_images(batch: int, count: int = 3) -> Images:
    return np.random.default_rng(batch).integers(0, 256, (count, 3072), dtype=np.uint8)


def write_all(root: Path, writer: Callable[..., bytes] = python2_batch) -> list[Path]:
    (root / FOLDER).mkdir()
    paths = [root / FOLDER / name for name in BATCHES]
    for i, path in enumerate(paths):
        path.write_bytes(writer(some_images(i), [i, 9 - i, 5]))
    return paths


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS.keys())
def test_whole_files_are_read(tmp_path: Path, writer: Callable[..., bytes]) -> None:
    write_all(tmp_path, writer)
    dataset = Cifar10().load(tmp_path)
    assert dataset.input_shape == (3, 32, 32)
    assert dataset.num_classes == 10
    assert dataset.x.dtype == torch.uint8
    assert np.array_equal(dataset.x.numpy().reshape(15, 3072), np.concatenate([some_images(i) for i in range(5)]))
    assert dataset.y.tolist() == [label for i in range(5) for label in (i, 9 - i, 5)]


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=">i4").reshape(3, 4),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(12, dtype=np.int64)[::2],
        np.array([1.5, 2.5], dtype=np.float16),
    ],
    ids=["big endian", "by columns", "strided", "half"],
)
def test_any_array_of_numbers_survives(tmp_path: Path, array: npt.NDArray[Any], protocol: int) -> None:
    path = tmp_path / "arrays"
    path.write_bytes(pickle.dumps({"a": array}, protocol=protocol))
    loaded = load_arrays(path)["a"]
    assert loaded.dtype == array.dtype
    assert np.array_equal(loaded, array)


class Runs:
    """Pickles to a call of a function of your choice, as an attacker would."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.call


@pytest.mark.parametrize("protocol", range(6))
def test_a_malicious_pickle_is_refused_and_not_run(tmp_path: Path, protocol: int) -> None:
    paths = write_all(tmp_path)
    evidence = tmp_path / "evidence"
    attack = pickle.dumps({b"data": some_images(0), b"labels": Runs(os.mkdir, str(evidence))}, protocol=protocol)
    paths[2].write_bytes(attack)
    with pytest.raises(UserError, match=r"data_batch_3: asks to run \w+\.mkdir, which .* refused and nothing was run"):
        Cifar10().load(tmp_path)
    assert not evidence.exists()

    pickle.loads(attack)  # the attack is a true one: a plain unpickler falls for it
    assert evidence.exists()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (pickle.dumps(Runs(eval, "1")), "builtins.eval"),
        (pickle.dumps(Runs(getattr, "a", "b")), "builtins.getattr"),
        (pickle.dumps(Runs(np.load, "file")), r"numpy\.\w+"),
        (pickle.dumps(np.int64(3)), r"numpy\._?core\.multiarray\.scalar"),
        (b"cos\nsystem\n(S'true'\ntR.", "os.system"),
        (b"(S'true'\nios\nsystem\n.", "os.system"),
        (b"\x80\x04\x8c\x0anumpy.core\x8c\x12multiarray.os.open\x93.", "numpy.core.multiarray.os.open"),
        (b"c__builtin__\nexec\n.", "__builtin__.exec"),
        (b"c_codecs\ndecode\n.", "_codecs.decode"),
    ],
)
def test_no_other_name_is_reached(tmp_path: Path, content: bytes, name: str) -> None:
    path = tmp_path / "batch"
    path.write_bytes(content)
    with pytest.raises(UserError, match=f"batch: asks to run {name}"):
        load_arrays(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a pickle",
        b"\x80\x02}",
        b"\x80\xff.",
        python2_batch(some_images(0), [1, 2, 3])[:-3000],
        python2_batch(some_images(0), [1, 2, 3]).replace(b"u1K", b"O8K"),  # an array of objects
        pickle.dumps({"a": np.array([None])}),
        pickle.dumps({"a": np.array(["text"])}),
        b"Pid\n.",  # a persistent id
        b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x05\x00\x00\x00rot13\x86R.",
        b"\x80\x02c_codecs\nencode\n}U\x08__call__Nsb.",  # an attempt to change a stand-in
        b"\x80\x02cnumpy\ndtype\n}U\x08__init__Nsb.",
    ],
)
def test_a_damaged_pickle_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "batch"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"batch: is not a whole pickle of arrays") as caught:
        load_arrays(path)
    assert str(path) in str(caught.value)
    # And the stand-ins are unharmed.
    path.write_bytes(python2_batch(some_images(0), [1, 2, 3]))
    assert load_arrays(path)[b"labels"] == [1, 2, 3]


GOOD = some_images(0)


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        ([1, 2], "holds a list, expected a dict"),
        ({b"labels": [1, 2, 3]}, "has no data"),
        ({b"data": GOOD}, "has no labels"),
        ({b"data": [1, 2, 3], b"labels": [1, 2, 3]}, "its data are not rows of 3072 bytes"),
        ({b"data": GOOD.astype(np.int64), b"labels": [1, 2, 3]}, "its data are not rows of 3072 bytes"),
        ({b"data": GOOD[:, :100], b"labels": [1, 2, 3]}, "its data are not rows of 3072 bytes"),
        ({b"data": GOOD.ravel(), b"labels": [1, 2, 3]}, "its data are not rows of 3072 bytes"),
        ({b"data": GOOD, b"labels": [1, 2]}, "holds 3 images and 2 labels"),
        ({b"data": GOOD, b"labels": [1, 2, 10]}, "its labels are not a list of whole numbers from 0 to 9"),
        ({b"data": GOOD, b"labels": [1, 2, -1]}, "its labels are not a list of whole numbers from 0 to 9"),
        ({b"data": GOOD, b"labels": [1, 2, 3.5]}, "its labels are not a list of whole numbers from 0 to 9"),
        ({b"data": GOOD, b"labels": "abc"}, "its labels are not a list of whole numbers from 0 to 9"),
    ],
)
def test_a_wrong_batch_is_a_sentence_that_names_it(tmp_path: Path, batch: Any, sentence: str) -> None:
    paths = write_all(tmp_path)
    paths[4].write_bytes(pickle.dumps(batch))
    with pytest.raises(UserError, match=sentence) as caught:
        Cifar10().load(tmp_path)
    assert str(caught.value).startswith(f"{paths[4]}: ")


def test_missing_batches_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        Cifar10().load(tmp_path)
    for name in BATCHES:
        assert str(tmp_path / FOLDER / name) in str(caught.value)
    assert "Krizhevsky" in str(caught.value)
    assert f"put them in {tmp_path / FOLDER} " in str(caught.value)
    assert "SUPERFED_DATA or --data-root" in str(caught.value)

    paths = write_all(tmp_path)
    paths[1].unlink()
    with pytest.raises(UserError) as caught:
        Cifar10().load(tmp_path)
    assert str(paths[1]) in str(caught.value)
    assert str(paths[0]) not in str(caught.value)


def test_without_a_root_the_sentence_says_so() -> None:
    with pytest.raises(UserError, match=r"cifar10: no data root is set; .*SUPERFED_DATA or --data-root"):
        Cifar10().load(None)
