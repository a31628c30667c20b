"""A folder with a file per client: what is read, and the sentence for everything that cannot be."""

import datetime
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch

from superfed.core.errors import SettingError, UserError
from superfed.data.cache import load
from superfed.data.dataset import Dataset
from superfed.data.dealt import DealtDataset
from superfed.data.own_folder import ClientFolder
from superfed.data.split import CUT, TEST, VALIDATION

X = np.arange(12, dtype=np.float32).reshape(4, 3)
Y = np.array([0, 1, 2, 1])


def npz(folder: Path, name: str, **arrays: Any) -> Path:
    path = folder / f"{name}.npz"
    np.savez(path, **arrays)
    return path


def parquet(folder: Path, name: str, **columns: Any) -> Path:
    path = folder / f"{name}.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def sizes(folder: Path, **settings: Any) -> list[tuple[int, int, int]]:
    data = DealtDataset.deal(ClientFolder(str(folder), **settings).load(None))
    return [(len(data.train(i)), len(data.validation(i)), len(data.test(i))) for i in range(data.num_clients)]


def test_the_clients_are_the_files(tmp_path: Path) -> None:
    npz(tmp_path, "bob", x=X[:1] + 100, y=Y[1:2])
    npz(tmp_path, "anna.b", x=X, y=Y)
    (tmp_path / "notes.txt").write_text("not a client")
    (tmp_path / "._bob.npz").write_bytes(b"as some systems leave beside a file")
    (tmp_path / "folder.npz").mkdir()
    pool = ClientFolder(str(tmp_path)).load(None)
    assert (pool.input_shape, pool.num_classes, pool.class_names, pool.parts) == ((3,), 3, None, None)
    data = DealtDataset.deal(pool)
    assert data.client_names == ["anna.b", "bob"]
    assert data.train(1).x.tolist() == [[100, 101, 102]]
    assert sizes(tmp_path) == [(2, 1, 1), (1, 0, 0)]


def test_clients_with_numbers_in_their_names_are_in_the_order_of_the_numbers(tmp_path: Path) -> None:
    for name in ("c10", "c9", "c1", "c", "b2"):
        npz(tmp_path, name, x=X, y=Y)
    owners = ClientFolder(str(tmp_path)).load(None).owners
    assert owners is not None
    assert owners.names == ["b2", "c", "c1", "c9", "c10"]


@pytest.mark.parametrize(
    ("given", "kept", "handed_out"),
    [
        (np.uint8, torch.uint8, torch.float32),
        (np.bool_, torch.uint8, torch.float32),
        (np.uint16, torch.float32, torch.float32),
        (np.float16, torch.float16, torch.float32),
        (np.float32, torch.float32, torch.float32),
        (">f4", torch.float32, torch.float32),
        (np.float64, torch.float32, torch.float32),
        (np.int8, torch.int64, torch.int64),
        (np.int64, torch.int64, torch.int64),
    ],
)
def test_types_of_inputs(tmp_path: Path, given: Any, kept: torch.dtype, handed_out: torch.dtype) -> None:
    npz(tmp_path, "anna", x=(X % 2).astype(given), y=Y)
    pool = ClientFolder(str(tmp_path), scale=0.5).load(None)
    assert pool.x.dtype == kept
    out = pool.inputs(np.arange(4))
    assert out.dtype == handed_out
    assert out.tolist() == (X % 2 * (1 if handed_out == torch.int64 else 0.5)).tolist()


def test_arrays_of_any_shape_and_memory(tmp_path: Path) -> None:
    x = np.asfortranarray(np.random.default_rng(0).integers(0, 256, (4, 3, 8, 8), dtype=np.uint8))
    np.savez_compressed(tmp_path / "anna.npz", pixels=x, digit=Y)
    pool = ClientFolder(str(tmp_path), inputs="pixels", label="digit").load(None)
    assert pool.scale == 1.0
    assert np.array_equal(pool.x.numpy(), x)


def test_a_client_may_bring_its_own_split(tmp_path: Path) -> None:
    test, validation = {"x_test": X + 100, "y_test": Y}, {"x_validation": X[:3] + 200, "y_validation": Y[:3]}
    npz(tmp_path, "a-none", x=X, y=Y)
    npz(tmp_path, "b-test", x=X, y=Y, **test)
    npz(tmp_path, "c-both", x=X, y=Y, **test, **validation)
    pool = ClientFolder(str(tmp_path)).load(None)
    assert pool.parts is not None
    assert pool.parts.tolist() == [CUT] * 8 + [TEST] * 4 + [CUT] * 4 + [VALIDATION] * 3 + [TEST] * 4
    assert sizes(tmp_path) == [(2, 1, 1), (3, 1, 4), (4, 3, 4)]
    data = DealtDataset.deal(pool)
    assert data.test(1).x.tolist() == (X + 100).tolist()
    assert data.validation(2).x.tolist() == (X[:3] + 200).tolist()


def test_a_split_may_be_a_column(tmp_path: Path) -> None:
    split = ["train", "test", "train", "validation"]
    parquet(tmp_path, "anna", x=X.tolist(), y=Y, split=split)
    parquet(tmp_path, "bob", x=X.tolist(), y=Y, split=["train"] * 3 + ["test"])
    parquet(tmp_path, "cleo", x=X.tolist(), y=Y)
    assert sizes(tmp_path) == [(2, 1, 1), (2, 1, 1), (2, 1, 1)]
    data = DealtDataset.deal(ClientFolder(str(tmp_path)).load(None))
    assert data.validation(0).x.tolist() == X[3:].tolist()
    assert data.test(1).x.tolist() == X[3:].tolist()


@pytest.mark.parametrize(
    ("column", "kept", "shape"),
    [
        (X.tolist(), torch.float32, (3,)),
        (pyarrow.array(X.tolist(), pyarrow.list_(pyarrow.float32(), 3)), torch.float32, (3,)),
        (pyarrow.array(X.tolist(), pyarrow.large_list(pyarrow.uint8())), torch.uint8, (3,)),
        (X.astype(int).tolist(), torch.int64, (3,)),
        (X.reshape(4, 3, 1).tolist(), torch.float32, (3, 1)),
        (pyarrow.FixedShapeTensorArray.from_numpy_ndarray(X.reshape(4, 1, 3)), torch.float32, (1, 3)),
    ],
)
def test_lists_in_parquet(tmp_path: Path, column: Any, kept: torch.dtype, shape: tuple[int, ...]) -> None:
    parquet(tmp_path, "anna", x=column, y=Y)
    pool = ClientFolder(str(tmp_path)).load(None)
    assert (pool.x.dtype, pool.input_shape) == (kept, shape)
    assert pool.x.reshape(4, 3).tolist() == X.tolist()


def test_numbers_side_by_side_in_parquet(tmp_path: Path) -> None:
    """In the order of the file; not the label, nor text, nor pandas' index."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"width": [1.5, 2.5], "name": ["p", "q"], "y": [0, 1], "age": [3, 4], "ill": [True, False]}, index=[7, 9]
    )
    for name in ("anna", "bob"):
        frame.to_parquet(tmp_path / f"{name}.parquet")
    pool = ClientFolder(str(tmp_path)).load(None)
    assert pool.x.dtype == torch.float32
    assert pool.x.tolist() == [[1.5, 3, 1], [2.5, 4, 0]] * 2


def test_columns_of_bytes_stay_bytes(tmp_path: Path) -> None:
    parquet(tmp_path, "anna", y=Y, p0=X[:, 0].astype(np.uint8), p1=X[:, 1].astype(np.uint8))
    pool = ClientFolder(str(tmp_path), scale=1 / 255).load(None)
    assert pool.x.dtype == torch.uint8
    torch.testing.assert_close(pool.inputs(np.array([3])), torch.tensor([[9.0, 10.0]]) / 255)


@pytest.mark.parametrize("write", [npz, parquet])
def test_names_of_classes_are_sorted_over_all_clients(tmp_path: Path, write: Callable[..., Path]) -> None:
    x = X if write is npz else X.tolist()
    write(tmp_path, "anna", x=x, y=["dog", "cat", "cat", "dog"])
    write(tmp_path, "bob", x=x, y=["ant", "dog", "ant", "Zebra"])
    pool = ClientFolder(str(tmp_path)).load(None)
    assert pool.class_names == ["Zebra", "ant", "cat", "dog"]
    assert pool.num_classes == 4
    assert pool.y.tolist() == [3, 2, 2, 3, 1, 3, 1, 0]


def test_other_kinds_of_labels(tmp_path: Path) -> None:
    categories = pyarrow.array(["b", "a", "b", "a"]).dictionary_encode()
    parquet(tmp_path, "anna", x=X.tolist(), y=categories)
    assert ClientFolder(str(tmp_path)).load(None).y.tolist() == [1, 0, 1, 0]
    for labels in ([1.0, 0.0, 2.0, 1.0], [True, False, True, True], pyarrow.array([1, 0, 1, 1], pyarrow.uint64())):
        parquet(tmp_path, "anna", x=X.tolist(), y=labels)
        assert ClientFolder(str(tmp_path)).load(None).y.tolist()[:2] == [1, 0]


def test_the_path_may_be_relative_to_here_or_to_the_data_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, root = tmp_path / "here", tmp_path / "root"
    for place, name in ((here, "near"), (root, "far")):
        (place / "clients").mkdir(parents=True)
        npz(place / "clients", name, x=X, y=Y)
    monkeypatch.chdir(here)
    settings = ClientFolder("clients")
    assert [path.stem for path in settings.find(root).files] == ["near"]
    assert [path.stem for path in settings.find(None).files] == ["near"]
    monkeypatch.chdir(tmp_path)
    assert [path.stem for path in settings.find(root).files] == ["far"]
    with pytest.raises(UserError) as caught:
        settings.find(None)
    assert str(caught.value) == (
        f"folder: looked for {tmp_path / 'clients'} and found nothing; give the path of your data"
    )
    with pytest.raises(UserError) as caught:
        ClientFolder("nowhere").find(root)
    assert str(caught.value) == (
        f"folder: looked for {tmp_path / 'nowhere'} and {root / 'nowhere'} and found nothing; "
        "give the path of your data"
    )


def test_it_can_be_prepared_and_says_how_far_it_is(tmp_path: Path) -> None:
    folder, cache = tmp_path / "clients", tmp_path / "cache"
    folder.mkdir()
    npz(folder, "anna", x=X, y=["b", "a", "b", "a"], x_test=X, y_test=["c"] * 4)
    npz(folder, "bob", x=X, y=["b", "a", "b", "a"])
    ticks: list[tuple[int, int]] = []
    settings = ClientFolder(str(folder))
    fresh = load(settings, None, cache, lambda *done: ticks.append(done))
    again = load(settings, None, cache)
    assert ticks == [(1, 2), (2, 2)]
    for pool in (fresh, again):
        assert isinstance(pool, Dataset)
        assert pool.digest() == settings.load(None).digest()
        assert pool.class_names == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"scale": 0.0}, "scale: must be more than 0, not 0.0"),
        ({"scale": float("inf")}, "scale: must be a finite number, got inf"),
        ({"inputs": "y"}, "label: 'y' is already used for something else"),
    ],
)
def test_a_bad_setting_is_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        ClientFolder("here", **settings)
    assert str(caught.value) == sentence


def test_too_few_clients_is_a_sentence(tmp_path: Path) -> None:
    npz(tmp_path, "anna", x=X, y=Y)
    with pytest.raises(SettingError, match="num_clients: 2 clients are wanted, but there are 1 people"):
        DealtDataset.deal(ClientFolder(str(tmp_path)).load(None), num_clients=2)


# What is broken, how, and the sentence; {anna}, {bob} and {folder} are paths. Anna is whole unless she is written anew.
Break = Callable[[Path], object]


def good(folder: Path) -> None:
    npz(folder, "anna", x=X, y=Y)


def good_table(folder: Path) -> None:
    parquet(folder, "anna", x=X.tolist(), y=Y)


def bob(**arrays: Any) -> Break:
    return lambda folder: npz(folder, "bob", **arrays)


def bob_table(**columns: Any) -> Break:
    return lambda folder: parquet(folder, "bob", **columns)


def with_value(value: float) -> np.ndarray[Any, Any]:
    x = X.copy()
    x[1, 1] = value
    return x


def cut(write: Break, size: int) -> Break:
    def broken(folder: Path) -> None:
        write(folder)
        (path,) = folder.glob("bob*")
        path.write_bytes(path.read_bytes()[:size])

    return broken


def changed(write: Break, old: bytes, new: bytes) -> Break:
    def broken(folder: Path) -> None:
        write(folder)
        (path,) = folder.glob("bob*")
        content = path.read_bytes()
        assert content.count(old) == 1
        path.write_bytes(content.replace(old, new))

    return broken


def raw(name: str, content: bytes) -> Break:
    return lambda folder: (folder / name).write_bytes(content)


def a_vast_promise(folder: Path) -> None:
    with zipfile.ZipFile(folder / "bob.npz", "w") as file:
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999,), }".ljust(117) + b"\n"
        for name in ("x.npy", "y.npy"):
            file.writestr(name, b"\x93NUMPY\x01\x00\x76\x00" + header)


def upper_case_twin(folder: Path) -> None:
    npz(folder, "bob", x=X, y=Y).rename(folder / "bob.NPZ")
    npz(folder, "bob", x=X, y=Y)
    if len(list(folder.iterdir())) < 3:
        pytest.skip("names differ by more than their case here")


BROKEN_ARRAYS: list[tuple[str, Break, str]] = [
    (
        "another shape",
        bob(x=X[:, :2], y=Y),
        "{bob}: its inputs have shape (2,), but those of {anna} have (3,); use one shape for all",
    ),
    (
        "another type",
        bob(x=X.astype(int), y=Y),
        "{bob}: its inputs are int64, but those of {anna} are float32; use one type for all",
    ),
    (
        "another shape to test on",
        bob(x=X, y=Y, x_test=X[:, :2], y_test=Y),
        "{bob}, test: its inputs have shape (2,), but those of {anna} have (3,); use one shape for all",
    ),
    ("more inputs", bob(x=X, y=Y[:3]), "{bob}: has 4 inputs but 3 labels"),
    ("more labels to test on", bob(x=X, y=Y, x_test=X[:1], y_test=Y), "{bob}, test: has 1 inputs but 4 labels"),
    ("negative labels", bob(x=X, y=Y - 1), "{bob}: holds the label -1, but labels begin at 0"),
    (
        "labels out of range",
        bob(x=X, y=Y + 2.0**31),
        "{bob}: holds the label 2147483650, but 2147483648 classes are 0 to 2147483647",
    ),
    (
        "halves of labels",
        bob(x=X, y=Y / 2),
        "{bob}: the labels are not whole numbers; a label is the number of a class, 0, 1, 2 and so on",
    ),
    (
        "labels that are not there",
        bob(x=X, y=[0, 1, np.nan, 1]),
        "{bob}: the labels are not whole numbers; a label is the number of a class, 0, 1, 2 and so on",
    ),
    (
        "names among numbers",
        bob(x=X, y=["a", "b", "a", "b"]),
        "{bob}: its labels are names, but those of {anna} are numbers; use one kind for all",
    ),
    (
        "a label each in a row",
        bob(x=X, y=Y[:, None]),
        "{bob}: the labels have shape (4, 1), but must be one number per sample",
    ),
    (
        "not a number",
        bob(x=with_value(np.nan), y=Y),
        "{bob}: the inputs hold NaN or infinite values; clean or fill them first",
    ),
    (
        "infinite",
        bob(x=with_value(-np.inf), y=Y),
        "{bob}: the inputs hold NaN or infinite values; clean or fill them first",
    ),
    (
        "too large",
        bob(x=with_value(1).astype(float) * 1e300, y=Y),
        "{bob}: the inputs hold values that are too large for float32; scale them down first",
    ),
    ("nobody", bob(x=X[:0], y=Y[:0]), "{bob}: holds no samples; leave it out"),
    ("nothing to test on", bob(x=X, y=Y, x_test=X[:0], y_test=Y[:0]), "{bob}, test: holds no samples; leave it out"),
    (
        "flat inputs",
        bob(x=X[:, 0], y=Y),
        "{bob}: the inputs have shape (4,), but need a row of values per sample, such as (4, 1)",
    ),
    ("no inputs", bob(pixels=X, y=Y), "{bob}: has no array 'x', only pixels, y"),
    ("no labels", bob(x=X), "{bob}: has no array 'y', only x"),
    ("no arrays", bob(), "{bob}: has no array 'x', only none"),
    (
        "half a test",
        bob(x=X, y=Y, x_test=X),
        "{bob}: has an array 'x_test' but no 'y_test'; give both or neither",
    ),
    (
        "an unknown part",
        bob(x=X, y=Y, x_val=X, y_val=Y),
        "{bob}: has an array 'x_val', but those that are read are x, x_validation, x_test, y, y_validation, y_test; "
        "rename it",
    ),
    (
        "objects",
        bob(x=X.astype(object), y=Y),
        "{bob}: its array 'x' holds pickled Python objects, which are not loaded; save plain numbers or text",
    ),
    (
        "objects as labels",
        bob(x=X, y=np.array(["a", None, 1, 2], dtype=object)),
        "{bob}: its array 'y' holds pickled Python objects, which are not loaded; save plain numbers or text",
    ),
    ("complex", bob(x=X.astype(complex), y=Y), "{bob}: the inputs are of type complex128, which are not plain numbers"),
    (
        "times",
        bob(x=X.astype("datetime64[s]"), y=Y),
        "{bob}: the inputs are of type datetime64[s], which are not plain numbers",
    ),
    ("text", bob(x=X.astype(str), y=Y), "{bob}: the inputs are strings; give numbers"),
    (
        "times as labels",
        bob(x=X, y=Y.astype("datetime64[D]")),
        "{bob}: the labels are of type datetime64[D], which are not plain numbers",
    ),
    *(
        (what, write, "{bob}: is no .npz file or a damaged one; write it again with numpy.savez")
        for what, write in [
            ("cut in the middle", cut(bob(x=X, y=Y), 300)),
            ("cut at the end", cut(bob(x=X, y=Y), -3)),
            ("cut to nothing", cut(bob(x=X, y=Y), 0)),
            ("a changed byte", changed(bob(x=X, y=Y), X.tobytes(), (X + 1).tobytes())),
            ("a shape that was changed", changed(bob(x=X, y=Y[:2]), b"(4, 3)", b"(9, 3)")),
            ("a vast promise", a_vast_promise),
            ("a pickle", raw("bob.npz", pickle.dumps([1, 2]))),
            ("a text", raw("bob.npz", b"x,y\n1,2\n")),
            (
                "an npy file",
                raw(
                    "bob.npz",
                    b"\x93NUMPY\x01\x00\x76\x00"
                    + b"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }".ljust(117)
                    + b"\n"
                    + bytes(8),
                ),
            ),
        ]
    ),
    ("both kinds", bob_table(x=X.tolist(), y=Y), "{folder}: holds .npz and .parquet files; keep one kind"),
    (
        "a twin",
        upper_case_twin,
        "{folder}: has two files for the client 'bob', bob.NPZ and bob.npz; rename one",
    ),
]

BROKEN_TABLES: list[tuple[str, Break, str]] = [
    ("no label", bob_table(x=X.tolist()), "{bob}: has no column 'y', only x"),
    (
        "no inputs",
        bob_table(who=["a"] * 4, y=Y),
        "{bob}: has no inputs: besides y it has who, and none of it is numbers, lists or images",
    ),
    (
        "only labels",
        bob_table(y=Y),
        "{bob}: has no inputs: besides y it has nothing, and none of it is numbers, lists or images",
    ),
    (
        "two lists",
        bob_table(a=X.tolist(), b=X.tolist(), y=Y),
        "{bob}: holds images or lists in a, b; choose one by inputs",
    ),
    (
        "no list",
        bob_table(a=X[:, 0], b=X[:, 1], y=Y),
        "{bob}: its columns of inputs are a, b, but those of {anna} are one array; give all the same, in the same order",
    ),
    (
        "longer lists",
        bob_table(x=[[1.0, 2.0, 3.0]] * 3 + [[1.0]], y=Y),
        "{bob}, column 'x': holds lists of 1 to 3 values; pad or cut them to one length",
    ),
    (
        "lists of longer lists",
        bob_table(x=[[[1.0], [2.0]]] * 3 + [[[1.0, 2.0], [3.0]]], y=Y),
        "{bob}, column 'x': holds lists of 1 to 2 values; pad or cut them to one length",
    ),
    (
        "other lists",
        bob_table(x=[[1.0, 2.0]] * 4, y=Y),
        "{bob}: its inputs have shape (2,), but those of {anna} have (3,); use one shape for all",
    ),
    (
        "empty lists",
        bob_table(x=pyarrow.array([[]] * 4, pyarrow.list_(pyarrow.float32())), y=Y),
        "{bob}, column 'x': the inputs have shape (4, 0), but need a row of values per sample, such as (4, 1)",
    ),
    (
        "a missing list",
        bob_table(x=[None, *X[1:].tolist()], y=Y),
        "{bob}, column 'x': holds nulls in 1 of 4 rows; fill or drop them",
    ),
    (
        "a missing number in a list",
        bob_table(x=[[1.0, None, 3.0], *X[1:].tolist()], y=Y),
        "{bob}, column 'x': holds lists with nulls inside; fill or drop them",
    ),
    (
        "a missing label",
        bob_table(x=X.tolist(), y=[0, 1, None, None]),
        "{bob}, column 'y': holds nulls in 2 of 4 rows; fill or drop them",
    ),
    (
        "a missing name",
        bob_table(x=X.tolist(), y=["a", "b", None, "a"]),
        "{bob}, column 'y': holds nulls in 1 of 4 rows; fill or drop them",
    ),
    (
        "a list that is not finite",
        bob_table(x=with_value(np.nan).tolist(), y=Y),
        "{bob}, column 'x': the inputs hold NaN or infinite values; clean or fill them first",
    ),
    (
        "lists of text",
        bob_table(x=[["a"] * 3] * 4, y=Y),
        "{bob}, column 'x': holds string, but inputs are numbers, lists of numbers or images",
    ),
    (
        "text",
        bob_table(x=["a"] * 4, y=Y),
        "{bob}, column 'x': holds string, but inputs are numbers, lists of numbers or images",
    ),
    (
        "times",
        bob_table(x=[datetime.datetime(2024, 1, 1)] * 4, y=Y),
        "{bob}, column 'x': holds timestamp[us], but inputs are numbers, lists of numbers or images",
    ),
    (
        "days as labels",
        bob_table(x=X.tolist(), y=[datetime.date(2024, 1, 1)] * 4),
        "{bob}, column 'y': holds date32[day], but a label is a whole number or a name",
    ),
    (
        "halves of labels",
        bob_table(x=X.tolist(), y=Y / 2),
        "{bob}, column 'y': the labels are not whole numbers; a label is the number of a class, 0, 1, 2 and so on",
    ),
    (
        "negative labels",
        bob_table(x=X.tolist(), y=Y - 2),
        "{bob}, column 'y': holds the label -2, but labels begin at 0",
    ),
    (
        "names among numbers",
        bob_table(x=X.tolist(), y=["a"] * 4),
        "{bob}: its labels are names, but those of {anna} are numbers; use one kind for all",
    ),
    (
        "an unknown part",
        bob_table(x=X.tolist(), y=Y, split=["train", "val", "test", "test"]),
        "{bob}, column 'split': holds 'val', but a split is train, validation or test",
    ),
    (
        "a part that is missing",
        bob_table(x=X.tolist(), y=Y, split=["train", None, "test", "test"]),
        "{bob}, column 'split': holds nulls in 1 of 4 rows; fill or drop them",
    ),
    (
        "numbers as parts",
        bob_table(x=X.tolist(), y=Y, split=[0, 0, 1, 1]),
        "{bob}, column 'split': holds int64, but a split is train, validation or test",
    ),
    (
        "nothing to train with",
        bob_table(x=X.tolist(), y=Y, split=["test", "validation", "test", "test"]),
        "client 'bob': has samples for validation or test, but none to train with; leave it out",
    ),
    ("nobody", bob_table(x=X.tolist()[:0], y=Y[:0]), "{bob}: holds no samples; leave it out"),
    (
        "another type",
        bob_table(x=X.astype(int).tolist(), y=Y),
        "{bob}: its inputs are int64, but those of {anna} are float32; use one type for all",
    ),
]


def told(folder: Path, ending: str, sentence: str) -> str:
    return sentence.format(folder=folder, anna=folder / f"anna{ending}", bob=folder / f"bob{ending}")


@pytest.mark.parametrize(
    ("write", "sentence"), [row[1:] for row in BROKEN_ARRAYS], ids=[row[0] for row in BROKEN_ARRAYS]
)
def test_a_broken_npz_is_a_sentence(tmp_path: Path, write: Break, sentence: str) -> None:
    good(tmp_path)
    write(tmp_path)
    with pytest.raises(UserError) as caught:
        ClientFolder(str(tmp_path)).load(None)
    assert str(caught.value) == told(tmp_path, ".npz", sentence)


@pytest.mark.parametrize(
    ("write", "sentence"), [row[1:] for row in BROKEN_TABLES], ids=[row[0] for row in BROKEN_TABLES]
)
def test_a_broken_parquet_is_a_sentence(tmp_path: Path, write: Break, sentence: str) -> None:
    good_table(tmp_path)
    write(tmp_path)
    with pytest.raises(UserError) as caught:
        ClientFolder(str(tmp_path)).load(None)
    assert str(caught.value) == told(tmp_path, ".parquet", sentence)


@pytest.mark.parametrize("size", [0, 3, 200, -1])
def test_a_cut_parquet_is_a_sentence(tmp_path: Path, size: int) -> None:
    cut(bob_table(x=X.tolist(), y=Y), size)(tmp_path)
    with pytest.raises(UserError) as caught:
        ClientFolder(str(tmp_path)).load(None)
    sentence = str(caught.value)
    assert sentence.startswith(f"{tmp_path / 'bob.parquet'}: cannot be read as Parquet (")
    assert sentence.endswith("); write it again")
    assert "\n" not in sentence


@pytest.mark.parametrize(("good", "bad"), [("zebra", b"z\xffbra"), ("animal", b"an\xffmal")])
def test_text_that_is_no_utf8_is_a_sentence(tmp_path: Path, good: str, bad: bytes) -> None:
    columns = pyarrow.table({"x": X.tolist(), "animal": ["zebra"] * 4})
    path = tmp_path / "anna.parquet"
    pyarrow.parquet.write_table(columns, path, store_schema=False, write_statistics=False, compression="none")
    path.write_bytes(path.read_bytes().replace(good.encode(), bad))
    with pytest.raises(UserError) as caught:
        ClientFolder(str(tmp_path), label="animal").load(None)
    assert str(caught.value).startswith(f"{path}")
    assert str(caught.value).endswith("; write it again")


def test_columns_in_another_order_are_a_sentence(tmp_path: Path) -> None:
    parquet(tmp_path, "anna", a=X[:, 0], b=X[:, 1], y=Y)
    parquet(tmp_path, "bob", b=X[:, 1], a=X[:, 0], y=Y)
    with pytest.raises(UserError) as caught:
        ClientFolder(str(tmp_path)).load(None)
    assert str(caught.value) == (
        f"{tmp_path / 'bob.parquet'}: its columns of inputs are b, a, but those of {tmp_path / 'anna.parquet'} are a, b; "
        "give all the same, in the same order"
    )


def test_a_name_of_ones_own_must_be_there(tmp_path: Path) -> None:
    parquet(tmp_path, "anna", a=X[:, 0], b=X[:, 1], y=Y)
    with pytest.raises(UserError) as caught:
        ClientFolder(str(tmp_path), inputs="pixls").load(None)
    assert str(caught.value) == f"{tmp_path / 'anna.parquet'}: has no column 'pixls', only a, b, y"


def test_no_folder_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        ClientFolder(str(tmp_path)).load(None)
    assert str(caught.value) == f"{tmp_path}: holds no .npz or .parquet files; put yours there"
    path = npz(tmp_path, "anna", x=X, y=Y)
    with pytest.raises(UserError) as caught:
        ClientFolder(str(path)).load(None)
    assert str(caught.value) == (
        f"{path}: is no folder with a file per client; for one table of all clients use the dataset 'table'"
    )


def test_an_array_beside_those_asked_for_need_not_be_readable(tmp_path: Path) -> None:
    npz(tmp_path, "anna", x=X, y=Y, notes=np.array([{"a": 1}], dtype=object))
    assert len(ClientFolder(str(tmp_path)).load(None)) == 4
