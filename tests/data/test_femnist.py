"""FEMNIST from LEAF's files and the hub's, whole and broken; and the real one."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from superfed.core.errors import UserError
from superfed.data.dataset import Dataset
from superfed.data.dealt import DealtDataset
from superfed.data.femnist import CLASSES, REPO, Femnist
from superfed.data.partitions import Natural
from support.leaf import shard, write_json
from support.real_data import root_with

BYTES = np.random.default_rng(0).integers(0, 256, (6, 28 * 28), dtype=np.uint8)
BYTES[0, :3] = (0, 255, 1)
LABELS = [0, 61, 10, 36, 9, 35]
WRITERS = ["f0001_00", "f0001_00", "f0002_01", "f0003_02", "f0003_02", "f0003_02"]


def floats(images: Any) -> list[list[float]]:
    """As LEAF has them: fractions of 255, with few digits."""
    return [[round(int(pixel) / 255, 4) for pixel in image] for image in images]


PIXELS = floats(BYTES)
FIRST = shard({"f0001_00": (PIXELS[:2], LABELS[:2]), "f0002_01": (PIXELS[2:3], LABELS[2:3])})
SECOND = shard({"f0003_02": (PIXELS[3:], LABELS[3:])})


def is_all_of_it(dataset: Dataset) -> bool:
    assert dataset.owners is not None
    return (
        dataset.x.dtype == torch.uint8
        and np.array_equal(dataset.x.numpy().reshape(6, -1), BYTES)
        and dataset.y.tolist() == LABELS
        and [dataset.owners.names[i] for i in dataset.owners.of] == WRITERS
    )


@pytest.mark.parametrize("folder", ["leaf/femnist", "femnist", "leaf/femnist/data/all_data", "femnist/data/all_data"])
def test_leafs_shards_are_read_wherever_they_lie(tmp_path: Path, folder: str) -> None:
    write_json(tmp_path / folder / "all_data_0.json", FIRST)
    write_json(tmp_path / folder / "all_data_1.json", SECOND)
    dataset = Femnist().load(tmp_path)
    assert is_all_of_it(dataset)
    assert dataset.input_shape == (1, 28, 28)
    assert dataset.num_classes == 62
    assert dataset.class_names is not None
    assert [dataset.class_names[label] for label in LABELS] == ["0", "z", "A", "a", "9", "Z"]
    assert dataset.note == "6 images of 3 writers; 6 of the 62 classes are there"
    assert dataset.inputs(np.array([0]))[0, 0, 0, :2].tolist() == [0.0, 1.0]


def test_the_62_classes_are_digits_capitals_and_small_letters() -> None:
    assert CLASSES == "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def test_leafs_training_and_test_folders_are_not_looked_at(tmp_path: Path) -> None:
    write_json(tmp_path / "femnist/data/all_data/all_data_0.json", FIRST)
    write_json(tmp_path / "femnist/data/train/all_data_0_keep_0_train_9.json", "broken")
    assert len(Femnist().load(tmp_path)) == 3


def test_progress_is_told_by_the_shard(tmp_path: Path) -> None:
    for i, content in enumerate((FIRST, SECOND)):
        write_json(tmp_path / f"femnist/all_data_{i}.json", content)
    ticks: list[tuple[int, int]] = []
    femnist = Femnist()
    femnist.read(femnist.find(tmp_path), lambda done, total: ticks.append((done, total)))
    assert ticks == [(1, 2), (2, 2)]


def test_writers_are_clients_and_whole_numbers_are_pixels_too(tmp_path: Path) -> None:
    ann = ([[1] * 784] * 5, [1, 2, 3, 4, 5])
    write_json(tmp_path / "femnist/all_data_0.json", shard({"ann": ann, "bob": ([[0] * 784], [7]), "cid": ([], [])}))
    dataset = Femnist().load(tmp_path)
    assert dataset.note == "6 images of 2 writers; 6 of the 62 classes are there; writers without an image, left out: 1"
    data = DealtDataset.deal(dataset, Natural(min_samples=2))
    assert data.client_names == ["ann"]
    assert DealtDataset.deal(dataset).client_names == ["ann", "bob"]
    assert (data.train(0).x == 1).all()


def image(at: int, value: Any, length: int = 784) -> list[Any]:
    pixels: list[Any] = [0.5] * length
    pixels[at] = value
    return pixels


GOOD = image(0, 0.5)
BROKEN: list[tuple[str, list[Any], list[Any], str]] = [
    ("label too high", [GOOD, GOOD], [0, 62], "y[1] is 62, but labels are whole numbers from 0 to 61"),
    ("label below 0", [GOOD], [-1], "y[0] is -1, but labels are whole numbers from 0 to 61"),
    ("label a letter", [GOOD], ["A"], "y[0] is 'A', but labels are whole numbers from 0 to 61"),
    ("label a fraction", [GOOD], [1.0], "y[0] is 1.0, but labels are whole numbers from 0 to 61"),
    ("label missing", [GOOD], [None], "y[0] is None, but labels are whole numbers from 0 to 61"),
    ("label true", [GOOD], [True], "y[0] is True, but labels are whole numbers from 0 to 61"),
    ("too short", [GOOD, GOOD[:-1]], [0, 0], "x[1] has 783 values, but an image is a list of 784 pixels"),
    ("all too short", [[0.5]], [0], "x[0] has 1 values, but an image is a list of 784 pixels"),
    ("too long", [[*GOOD, 0.5]], [0], "x[0] has 785 values, but an image is a list of 784 pixels"),
    ("not a list", ["a" * 784], [0], "x[0] is not a list, but an image is a list of 784 pixels"),
    ("in rows", [[[0.5] * 28] * 28], [0], "x[0] has 28 values, but an image is a list of 784 pixels"),
    ("lists in it", [[[0.5]] * 784], [0], "x[0] holds something that is not a number"),
    ("a list in it", [GOOD, image(5, [1])], [0, 0], "x[1] holds something that is not a number"),
    ("a word in it", [image(5, "1")], [0], "x[0] holds something that is not a number"),
    ("nothing in it", [image(5, None)], [0], "x[0] holds something that is not a number"),
    ("truth in it", [[True] * 784], [0], "x[0] holds something that is not a number"),
    (
        "a pixel too high",
        [image(783, 1.5)],
        [0],
        "x[0] has 1.5 as its pixel 783, but pixels are from 0 (ink) to 1 (paper)",
    ),
    ("bytes", [[255] * 784], [0], "x[0] has 255 as its pixel 0, but pixels are from 0 (ink) to 1 (paper)"),
    (
        "a pixel below 0",
        [image(1, -0.1)],
        [0],
        "x[0] has -0.1 as its pixel 1, but pixels are from 0 (ink) to 1 (paper)",
    ),
    (
        "not a number",
        [GOOD, image(0, float("nan"))],
        [0, 0],
        "x[1] has nan as its pixel 0, but pixels are from 0 (ink) to 1 (paper)",
    ),
    (
        "infinite",
        [image(0, float("inf"))],
        [0],
        "x[0] has inf as its pixel 0, but pixels are from 0 (ink) to 1 (paper)",
    ),
]


@pytest.mark.parametrize(("x", "y", "problem"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_bad_samples_are_a_sentence_that_names_file_and_writer(
    tmp_path: Path, x: list[Any], y: list[Any], problem: str
) -> None:
    path = write_json(tmp_path / "femnist/all_data_0.json", shard({"ann": ([GOOD], [3]), "bob": (x, y)}))
    with pytest.raises(UserError) as caught:
        Femnist().load(tmp_path)
    assert str(caught.value) == f"{path}: user 'bob': {problem}"


def test_nobody_with_an_image_is_a_sentence(tmp_path: Path) -> None:
    path = write_json(tmp_path / "femnist/all_data_0.json", shard({"ann": ([], [])}))
    with pytest.raises(UserError) as caught:
        Femnist().load(tmp_path)
    assert str(caught.value) == f"{path}: none of its users has an image; fetch it again"


def test_missing_files_are_named_with_every_place_looked_in(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        Femnist().load(tmp_path)
    sentence = str(caught.value)
    assert sentence.startswith("femnist: looked for ")
    for folder in ("leaf/femnist", "femnist", "leaf/femnist/data/all_data", "femnist/data/all_data"):
        assert str(tmp_path / folder / "all_data*.json") in sentence
    assert str(tmp_path / "hub" / REPO) in sentence
    assert f"put them in {tmp_path / 'leaf/femnist'}" in sentence
    with pytest.raises(UserError, match=r"femnist: no data root is set; .*leaf/femnist.*SUPERFED_DATA or --data-root"):
        Femnist().load(None)


def png(pixels: Any, size: tuple[int, int] = (28, 28)) -> bytes:
    image_module = pytest.importorskip("PIL.Image")
    buffer = io.BytesIO()
    image_module.fromarray(np.asarray(pixels, dtype=np.uint8).reshape(size[::-1])).save(buffer, "PNG")
    return buffer.getvalue()


def write_hub(root: Path, name: str, rows: slice, **columns: list[Any]) -> Path:
    import pyarrow
    import pyarrow.parquet

    path = root / "hub" / REPO / "data" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    table = {
        "image": [{"bytes": png(pixels), "path": None} for pixels in BYTES[rows]],
        "writer_id": WRITERS[rows],
        "hsf_id": [0] * len(WRITERS[rows]),
        "character": LABELS[rows],
    }
    pyarrow.parquet.write_table(pyarrow.table({**table, **columns}), path)
    return path


def test_the_hubs_files_are_read_too(tmp_path: Path) -> None:
    write_hub(tmp_path, "train-00000-of-00002.parquet", slice(0, 4))
    write_hub(tmp_path, "train-00001-of-00002.parquet", slice(4, 6))
    dataset = Femnist().load(tmp_path)
    assert is_all_of_it(dataset)
    for i, content in enumerate((FIRST, SECOND)):
        write_json(tmp_path / f"femnist/all_data_{i}.json", content)
    assert Femnist().find(tmp_path).layout == "leaf"
    from_leaf = Femnist().load(tmp_path)
    assert dataset.digest() == from_leaf.digest()
    assert (dataset.note, dataset.class_names) == (from_leaf.note, from_leaf.class_names)


def test_a_writer_scattered_over_the_hubs_rows_is_one_client(tmp_path: Path) -> None:
    write_hub(tmp_path, "train-0.parquet", slice(0, 6), writer_id=["b", "a", "b", "a", "c", "b"])
    dataset = Femnist().load(tmp_path)
    data = DealtDataset.deal(dataset)
    assert data.client_names == ["b", "a", "c"]
    assert data.partition.client(0).tolist() == [0, 2, 5]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"character": [0, 1, 62]}, ", row 2 of 'character': holds 62, expected a whole number from 0 to 61"),
        ({"writer_id": ["a", None, "b"]}, ": a row has the writer_id None, which should be the name of a writer"),
        ({"writer_id": [1, 2, 3]}, ": a row has the writer_id 1, which should be the name of a writer"),
    ],
)
def test_bad_rows_of_the_hub_are_a_sentence(tmp_path: Path, columns: dict[str, Any], sentence: str) -> None:
    path = write_hub(tmp_path, "train-0.parquet", slice(0, 3), **columns)
    with pytest.raises(UserError) as caught:
        Femnist().load(tmp_path)
    assert str(caught.value) == f"{path}{sentence}"


@pytest.mark.real_data
def test_the_real_files() -> None:
    dataset = Femnist().load(root_with("leaf/femnist/all_data_0.json"))
    assert dataset.note == "5,997 images of 12 writers; 10 of the 62 classes are there"
    assert dataset.owners is not None
    assert np.bincount(dataset.owners.of).tolist() == [487, 504, 544, 518, 507, 454, 516, 528, 479, 505, 496, 459]
    assert np.bincount(dataset.y).tolist() == [593, 702, 591, 607, 621, 565, 615, 559, 560, 584]
    # White paper, little ink.
    assert dataset.x.numpy().mean() / 255 == pytest.approx(0.9631, abs=5e-5)
    assert dataset.digest() == "ec35e8866d885154645f7541cfd5e4977fd1903978926f212ab3a2f9d9ff2f8a"
    assert DealtDataset.deal(dataset, Natural(min_samples=500)).num_clients == 7
