"""One table of all clients: what is read, and the sentence for everything that cannot be."""

import datetime
import io
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from PIL import Image

from superfed.core.errors import SettingError, UserError
from superfed.data.dataset import Dataset
from superfed.data.dealt import DealtDataset
from superfed.data.own_table import ClientTable
from superfed.data.partitions import IID

USERS = ["bob", "anna", "bob", "anna", "cleo"]
LABELS = [1, 0, 2, 1, 0]
ROWS: dict[str, Any] = {"user": USERS, "label": LABELS, "a": [1.5, 2.5, 3.5, 4.5, 5.5], "b": [1, 2, 3, 4, 5]}


def table(path: Path, columns: dict[str, Any] | None = None) -> Path:
    pyarrow.parquet.write_table(pyarrow.table(ROWS if columns is None else columns), path)
    return path


def read(path: Path, client: str = "user", **settings: Any) -> Dataset:
    return ClientTable(str(path), client, **settings).load(None)


def owners(pool: Dataset) -> list[str]:
    assert pool.owners is not None
    return [pool.owners.names[place] for place in pool.owners.of.tolist()]


def png(array: Any, mode: str | None = None, kind: str = "PNG") -> bytes:
    stream, image = io.BytesIO(), Image.fromarray(np.asarray(array))
    (image if mode is None else image.convert(mode)).save(stream, kind)
    return stream.getvalue()


GREY = [np.full((2, 3), 50 * i, dtype=np.uint8) for i in range(5)]
RED = np.zeros((2, 3, 3), dtype=np.uint8) + np.array([200, 10, 0], dtype=np.uint8)


def images(contents: Sequence[bytes | None]) -> dict[str, Any]:
    return {"user": USERS, "label": LABELS, "image": [{"bytes": content, "path": None} for content in contents]}


def test_rows_belong_to_clients(tmp_path: Path) -> None:
    pool = read(table(tmp_path / "t.parquet"))
    assert owners(pool) == USERS
    assert pool.x.tolist() == [[1.5, 1], [2.5, 2], [3.5, 3], [4.5, 4], [5.5, 5]]
    assert (pool.x.dtype, pool.y.tolist(), pool.num_classes) == (torch.float32, LABELS, 3)
    data = DealtDataset.deal(pool)
    assert data.client_names == ["anna", "bob", "cleo"]
    assert data.train(2).x.tolist() == [[5.5, 5]]
    assert sorted(data.labels(0).tolist()) == [0, 1]
    assert DealtDataset.deal(pool, IID(), 2).num_clients == 2


def test_only_what_is_needed_is_read(tmp_path: Path) -> None:
    pool = read(table(tmp_path / "t.parquet"), inputs="b")
    assert pool.x.tolist() == [[1], [2], [3], [4], [5]]
    assert pool.x.dtype == torch.float32


@pytest.mark.parametrize(
    ("clients", "names"),
    [
        ([10, 9, 10, 9, -1], ["-1", "9", "10"]),
        (pyarrow.array([10, 9, 10, 9, 2**64 - 1], pyarrow.uint64()), ["9", "10", str(2**64 - 1)]),
        (pyarrow.array(USERS).dictionary_encode(), ["anna", "bob", "cleo"]),
        (pyarrow.array(USERS, pyarrow.large_string()), ["anna", "bob", "cleo"]),
        (["u10", "u9", "u10", "u9", "U"], ["U", "u9", "u10"]),
    ],
)
def test_kinds_of_clients(tmp_path: Path, clients: Any, names: list[str]) -> None:
    pool = read(table(tmp_path / "t.parquet", ROWS | {"user": clients}))
    assert pool.owners is not None
    assert pool.owners.names == names
    assert owners(pool) == [str(value) for value in pyarrow.array(clients).to_pylist()]


def test_a_folder_holds_the_parts_of_a_table(tmp_path: Path) -> None:
    table(tmp_path / "part-0.parquet", ROWS | {"label": ["x", "x", "y", "y", "y"]})
    table(
        tmp_path / "part-1.parquet",
        {name: [] for name in ("user", "label")} | {"a": [1.0], "b": [1]} | {"user": ["dora"], "label": ["a"]},
    )
    schema = pyarrow.parquet.read_schema(tmp_path / "part-0.parquet")
    pyarrow.parquet.write_table(schema.empty_table(), tmp_path / "part-2.parquet")
    pool = read(tmp_path)
    assert owners(pool) == [*USERS, "dora"]
    assert pool.class_names == ["a", "x", "y"]
    assert pool.y.tolist() == [1, 1, 2, 2, 2, 0]


def test_csv(tmp_path: Path) -> None:
    """As pandas writes it, with its index in a column without a name."""
    path = tmp_path / "t.csv"
    path.write_text(',user,a,note,label,b\n0,bob,1,"x, y",dog,2\n1,anna,2.5,,cat,3\n2,"NA",3,z,"NA",4\n')
    pool = read(path)
    assert owners(pool) == ["bob", "anna", "NA"]
    assert pool.x.tolist() == [[1, 2], [2.5, 3], [3, 4]]
    assert pool.class_names == ["NA", "cat", "dog"]


def test_the_types_of_a_csv_are_guessed_from_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("user,a,label\n" + "anna,1,0\n" * 300_000 + "bob,1.5,1\n")
    pool = read(path)
    assert len(pool) == 300_001
    assert pool.x[-1].tolist() == [1.5]


def test_csv_parts(tmp_path: Path) -> None:
    (tmp_path / "0.csv").write_text("user,a,label\nanna,1,0\n")
    (tmp_path / "1.csv").write_text("user,a,label\nbob,1.5,1\n")
    assert read(tmp_path).x.tolist() == [[1], [1.5]]


def test_a_split_column_is_honoured(tmp_path: Path) -> None:
    rows = {"user": ["anna"] * 4 + ["bob"] * 4, "a": [float(i) for i in range(8)], "label": [0, 1] * 4}
    split = ["train", "train", "test", "validation", "train", "train", "train", "test"]
    data = DealtDataset.deal(read(table(tmp_path / "t.parquet", rows | {"part": split}), split="part"))
    assert (data.validation(0).x.tolist(), data.test(0).x.tolist()) == ([[3.0]], [[2.0]])
    assert [len(data.train(1)), len(data.validation(1)), data.test(1).x.tolist()] == [2, 1, [[7.0]]]


def test_images_are_decoded(tmp_path: Path) -> None:
    pool = read(table(tmp_path / "grey.parquet", images([png(grey) for grey in GREY])))
    assert (pool.x.dtype, pool.input_shape, pool.scale) == (torch.uint8, (1, 2, 3), 1 / 255)
    assert np.array_equal(pool.x.numpy()[:, 0], GREY)
    mixed = images([png(grey) for grey in GREY[:3]] + [png(RED), png(RED, "P")])
    pool = read(table(tmp_path / "mixed.parquet", mixed), scale=1.0)
    assert (pool.input_shape, pool.scale) == ((3, 2, 3), 1.0)
    assert set(pool.x[2].flatten().tolist()) == {100}
    assert pool.x[3, :, 0, 0].tolist() == [200, 10, 0]
    plain = {"user": USERS, "label": LABELS, "a": LABELS, "file": [png(grey, kind="JPEG") for grey in GREY]}
    assert read(table(tmp_path / "bytes.parquet", plain), inputs="file").input_shape == (1, 2, 3)
    assert read(tmp_path / "bytes.parquet").input_shape == (1,)


def test_decimals_are_numbers(tmp_path: Path) -> None:
    pool = read(
        table(tmp_path / "t.parquet", ROWS | {"a": [Decimal("1.25")] * 5, "b": [[Decimal("0.5")]] * 5}), inputs="a"
    )
    assert pool.x.tolist() == [[1.25]] * 5
    assert read(tmp_path / "t.parquet").x.tolist() == [[0.5]] * 5


def test_the_cache_key_sees_every_file(tmp_path: Path) -> None:
    table(tmp_path / "0.parquet")
    table(tmp_path / "1.parquet")
    found = ClientTable(str(tmp_path), "user").find(None)
    assert (found.layout, [path.name for path in found.files]) == ("parquet", ["0.parquet", "1.parquet"])
    assert ClientTable("0.parquet", "user").find(tmp_path).files == (tmp_path / "0.parquet",)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"scale": -1.0}, "scale: must be more than 0, not -1.0"),
        ({"label": "user"}, "label: 'user' is already used for something else"),
        ({"inputs": "label"}, "inputs: 'label' is already used for something else"),
        ({"split": "user"}, "split: 'user' is already used for something else"),
    ],
)
def test_a_bad_setting_is_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        ClientTable("t.parquet", "user", **settings)
    assert str(caught.value) == sentence


def without(name: str) -> dict[str, Any]:
    return {column: values for column, values in ROWS.items() if column != name}


def two_named_a() -> Any:
    arrays = [pyarrow.array(values) for values in (USERS, LABELS, LABELS, LABELS)]
    return pyarrow.Table.from_arrays(arrays, names=["user", "label", "a", "a"])


BROKEN: list[tuple[str, Any, dict[str, Any], str]] = [
    ("no client", without("user"), {}, "{path}: has no column 'user', only label, a, b"),
    ("no label", without("label"), {}, "{path}: has no column 'label', only user, a, b"),
    ("no inputs", ROWS, {"inputs": "c"}, "{path}: has no column 'c', only user, label, a, b"),
    ("no split", ROWS, {"split": "part"}, "{path}: has no column 'part', only user, label, a, b"),
    ("two columns", two_named_a(), {}, "{path}: has two columns 'a'; rename one"),
    (
        "nothing to learn from",
        {"user": USERS, "label": LABELS, "when": [datetime.date(2024, 1, 1)] * 5},
        {},
        "{path}: has no inputs: besides label, user it has when, and none of it is numbers, lists or images",
    ),
    (
        "a client is missing",
        ROWS | {"user": ["bob", None, "bob", None, "cleo"]},
        {},
        "{path}, column 'user': holds nulls in 2 of 5 rows; fill or drop them",
    ),
    (
        "half a client",
        ROWS | {"user": [0.5] * 5},
        {},
        "{path}, column 'user': holds double, but a client is a name or a whole number",
    ),
    (
        "a number is missing",
        ROWS | {"b": [1, None, 3, 4, 5]},
        {},
        "{path}, column 'b': holds nulls in 1 of 5 rows; fill or drop them",
    ),
    (
        "not a number",
        ROWS | {"a": [1.0, float("nan"), 1.0, 1.0, 1.0]},
        {},
        "{path}, column 'a': the inputs hold NaN or infinite values; clean or fill them first",
    ),
    (
        "too large",
        ROWS | {"a": [1e300] * 5},
        {},
        "{path}, column 'a': the inputs hold values that are too large for float32; scale them down first",
    ),
    (
        "a time",
        ROWS | {"c": [datetime.datetime(2024, 1, 1)] * 5},
        {"inputs": "c"},
        "{path}, column 'c': holds timestamp[us], but inputs are numbers, lists of numbers or images",
    ),
    (
        "a label too many",
        ROWS | {"label": [0, 1, 2, 3, 2**40]},
        {},
        "{path}, column 'label': holds the label 1099511627776, but 2147483648 classes are 0 to 2147483647",
    ),
    ("nobody", {name: values[:0] for name, values in ROWS.items()}, {}, "{path}: holds no samples"),
    (
        "somebody without training",
        ROWS | {"part": ["train", "test", "train", "test", "train"]},
        {"split": "part"},
        "client 'anna': has samples for validation or test, but none to train with; leave it out",
    ),
    (
        "an image of another size",
        images([png(grey) for grey in GREY[:4]] + [png(GREY[0].T)]),
        {},
        "{path}, column 'image', row 4: is an image of 2×3 pixels, but row 0 has 3×2; make them all the same size",
    ),
    (
        "an image that is elsewhere",
        images([png(grey) for grey in GREY[:4]] + [None]),
        {},
        "{path}, column 'image', row 4: has no bytes of an image",
    ),
    (
        "a deep image",
        images([png(grey.astype(np.uint16)) for grey in GREY]),
        {},
        "{path}, column 'image', row 0: is an image of the kind 'I;16'; turn it into eight-bit grey or colour",
    ),
    (
        "no image",
        images([b"<html>"] * 5),
        {},
        "{path}, column 'image', row 0: is not a JPEG or PNG image; fetch it again",
    ),
    (
        "half an image",
        images([png(grey) for grey in GREY[:4]] + [png(GREY[0])[:44]]),
        {},
        "{path}, column 'image', row 4: is a damaged image; fetch it again",
    ),
    (
        "two images",
        images([png(GREY[0])] * 5) | {"thumb": [{"bytes": png(GREY[0]), "path": None}] * 5},
        {},
        "{path}: holds images or lists in image, thumb; choose one by inputs",
    ),
]


@pytest.mark.parametrize(
    ("columns", "settings", "sentence"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN]
)
def test_a_broken_table_is_a_sentence(tmp_path: Path, columns: Any, settings: dict[str, Any], sentence: str) -> None:
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(columns if isinstance(columns, pyarrow.Table) else pyarrow.table(columns), path)
    with pytest.raises(UserError) as caught:
        read(path, **settings)
    assert str(caught.value) == sentence.format(path=path)


BROKEN_PARTS: list[tuple[str, dict[str, Any], str]] = [
    (
        "other clients",
        ROWS | {"user": [1, 2, 3, 4, 5]},
        "{b}, column 'user': holds int64, but {a}, column 'user', holds string; use one kind for all",
    ),
    (
        "other labels",
        ROWS | {"label": ["a"] * 5},
        "{b}: its labels are names, but those of {a} are numbers; use one kind for all",
    ),
    (
        "other columns",
        ROWS | {"b": ["x"] * 5},
        "{b}: its columns of inputs are a, but those of {a} are a, b; give all the same, in the same order",
    ),
]


@pytest.mark.parametrize(
    ("columns", "sentence"), [row[1:] for row in BROKEN_PARTS], ids=[row[0] for row in BROKEN_PARTS]
)
def test_parts_that_do_not_fit_are_a_sentence(tmp_path: Path, columns: dict[str, Any], sentence: str) -> None:
    first, second = table(tmp_path / "0.parquet"), table(tmp_path / "1.parquet", columns)
    with pytest.raises(UserError) as caught:
        read(tmp_path)
    assert str(caught.value) == sentence.format(a=first, b=second)


def empty_parts(folder: Path) -> Path:
    for name in ("0.parquet", "1.parquet"):
        table(folder / name, {name: values[:0] for name, values in ROWS.items()})
    return folder


def both_kinds(folder: Path) -> Path:
    table(folder / "0.parquet")
    (folder / "1.csv").write_text("user,a,label\nanna,1,0\n")
    return folder


def text_file(name: str, content: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_text(content)
        return folder / name

    return write


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (lambda folder: folder, "{path}: holds no .parquet or .csv files; put yours there"),
        (empty_parts, "{path}: holds no samples"),
        (both_kinds, "{path}: holds .parquet and .csv files; keep one kind"),
        (lambda folder: folder / "t.csv", "table: looked for {path} and found nothing; give the path of your data"),
        (text_file("t.xlsx", "?"), "{path}: is no .parquet or .csv file"),
        (text_file("t.csv", ""), "{path}: cannot be read as CSV (Empty CSV file); write it again"),
        (text_file("t.csv", "user,a,label\n"), "{path}: holds no samples"),
        (
            text_file("t.csv", "user,a,label\nanna,1,0\nbob,1\n"),
            "{path}: cannot be read as CSV (CSV parse error: Expected 3 columns, got 2: bob,1); write it again",
        ),
        (
            text_file("t.csv", "user,a,label\nanna,1,0\n,2,1\n"),
            "{path}, column 'user': holds nulls in 1 of 2 rows; fill or drop them",
        ),
        (
            text_file("t.csv", "user,a,label\nanna,NA,0\nbob,2,1\n"),
            "{path}, column 'a': holds nulls in 1 of 2 rows; fill or drop them",
        ),
    ],
)
def test_files_that_cannot_be_read_are_a_sentence(tmp_path: Path, write: Callable[[Path], Path], sentence: str) -> None:
    path = write(tmp_path)
    with pytest.raises(UserError) as caught:
        read(path)
    assert str(caught.value) == sentence.format(path=path)
