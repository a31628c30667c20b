"""Anyone's own arrays: what is taken as it is, and what is refused in a sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from superfed.core.errors import SettingError, UserError
from superfed.core.samples import FederatedData
from superfed.data.own import ClientArrays, OwnData

X = np.arange(40, dtype=np.float32).reshape(20, 2)
Y = np.arange(20) % 4
GOOD = (X, Y)


def all_rows(data: FederatedData, client: int) -> list[list[float]]:
    parts = (data.train(client), data.validation(client), data.test(client))
    return [row for part in parts for row in part.x.tolist()]


def test_pairs_are_split_and_nothing_is_lost() -> None:
    data: FederatedData = OwnData.from_clients([GOOD, (X[:1], Y[:1]), (X[:3] + 100, Y[:3])])
    assert (data.num_clients, data.num_classes, data.input_shape) == (3, 4, (2,))
    sizes = [(len(data.train(i)), len(data.validation(i)), len(data.test(i))) for i in range(3)]
    assert sizes == [(14, 2, 4), (1, 0, 0), (1, 1, 1)]
    assert [data.train_size(i) for i in range(3)] == [14, 1, 1]
    assert sorted(all_rows(data, 0)) == X.tolist()
    for part in (data.train(0), data.validation(0), data.test(0)):
        assert part.y.tolist() == [int(row[0]) // 2 % 4 for row in part.x.tolist()]


@pytest.mark.parametrize("make", [np.asarray, torch.as_tensor, lambda a: a.tolist(), list, tuple])
def test_arrays_tensors_and_lists_are_the_same(make: Callable[[Any], Any]) -> None:
    reference = OwnData.from_clients([GOOD]).train(0)
    samples = OwnData.from_clients([(make(X), make(Y))]).train(0)
    assert samples.x.dtype == torch.float32
    assert torch.equal(samples.x, reference.x)
    assert torch.equal(samples.y, reference.y)


def test_a_list_of_tensors_is_stacked() -> None:
    rows = [torch.full((3, 4), float(i), dtype=torch.float64) for i in range(5)]
    data = OwnData.from_clients([(rows, [0, 1, 0, 1, 0])])
    assert data.input_shape == (3, 4)
    assert data.train(0).x.dtype == torch.float64


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.float32, torch.float32),
        (np.float64, torch.float64),
        (np.float16, torch.float32),
        (">f4", torch.float32),
        (">f8", torch.float64),
        (np.uint8, torch.float32),
        (np.uint16, torch.float32),
        (np.bool_, torch.float32),
        (np.int64, torch.int64),
        (np.int32, torch.int64),
    ],
)
def test_types_of_inputs(given: Any, expected: torch.dtype) -> None:
    x = np.array([[0, 1], [1, 0], [1, 1]], dtype=given)
    whole = ClientArrays(train=(x, [0, 1, 0]), validation=(x, [0, 1, 0]), test=(x, [0, 1, 0]))
    for client in ((x, [0, 1, 0]), whole):
        data = OwnData.from_clients([client])
        for part in (data.train(0), data.test(0)):
            assert part.x.dtype == expected
    assert data.train(0).x.tolist() == [[0, 1], [1, 0], [1, 1]]


def test_uint8_is_not_scaled_and_bfloat16_is_taken() -> None:
    data = OwnData.from_clients([(np.full((5, 2), 255, dtype=np.uint8), [0, 1, 0, 1, 0])])
    assert set(data.train(0).x.flatten().tolist()) == {255.0}
    data = OwnData.from_clients([(torch.ones(5, 2, dtype=torch.bfloat16, requires_grad=True), [0, 1, 0, 1, 0])])
    assert data.train(0).x.dtype == torch.float32
    assert not data.train(0).x.requires_grad


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint64, np.float32, np.float64, np.bool_])
def test_types_of_labels(dtype: Any) -> None:
    data = OwnData.from_clients([(X, (Y % 2).astype(dtype))])
    assert data.train(0).y.dtype == torch.int64
    assert data.num_classes == 2


def test_what_need_not_be_copied_is_not() -> None:
    data = OwnData.from_clients([ClientArrays(train=(X, Y), validation=(X[:2], Y[:2]), test=(X[2:4], Y[2:4]))])
    assert data.train(0).x.data_ptr() == X.ctypes.data
    assert data.train(0).y.data_ptr() == Y.ctypes.data
    tensor = torch.ones(5, 2)
    data = OwnData.from_clients([ClientArrays((tensor, [0] * 5), (tensor, [0] * 5), (tensor, [0] * 5))])
    assert data.test(0).x.data_ptr() == tensor.data_ptr()


def test_memory_that_torch_cannot_take_is_copied_when_handed_out(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    awkward = [mapped, X[::-1], np.broadcast_to(X[:1], X.shape), np.asfortranarray(X)]
    clients = [ClientArrays(train=(x, Y), validation=(x, Y), test=(x, Y)) for x in awkward]
    data = OwnData.from_clients(clients)
    for client, x in enumerate(awkward):
        assert data.train(client).x.tolist() == x.tolist()
        assert data.train(client).x.is_contiguous()


def test_a_client_that_brings_its_own_split_keeps_it() -> None:
    own = ClientArrays(train=(X[:10], Y[:10]), validation=(X[10:14], Y[10:14]), test=(X[14:], Y[14:]))
    data = OwnData.from_clients([own])
    assert data.train(0).x.tolist() == X[:10].tolist()
    assert data.validation(0).x.tolist() == X[10:14].tolist()
    assert data.test(0).y.tolist() == Y[14:].tolist()
    assert data.train_size(0) == 10


@pytest.mark.parametrize(
    ("brings", "sizes"), [({"test": GOOD}, (18, 2, 20)), ({"validation": GOOD}, (16, 20, 4)), ({}, (14, 2, 4))]
)
def test_what_a_client_does_not_bring_is_cut_from_train(brings: dict[str, Any], sizes: tuple[int, int, int]) -> None:
    data = OwnData.from_clients([ClientArrays(train=(X + 1000, Y), **brings)])
    parts = [data.train(0), data.validation(0), data.test(0)]
    assert tuple(map(len, parts)) == sizes
    assert data.train_size(0) == sizes[0]
    cut = [row for part in parts for row in part.x.tolist() if row[0] >= 1000]
    assert sorted(cut) == (X + 1000).tolist()


def test_the_split_is_by_seed_and_client() -> None:
    one, again, other = (OwnData.from_clients([GOOD, GOOD], seed=seed) for seed in (0, 0, 1))
    assert one.test(0).x.tolist() == again.test(0).x.tolist()
    assert one.test(0).x.tolist() != other.test(0).x.tolist()
    assert one.test(0).x.tolist() != one.test(1).x.tolist()


def test_the_fingerprint_sees_contents_and_settings() -> None:
    base = OwnData.from_clients([GOOD, GOOD]).fingerprint
    assert OwnData.from_clients([(X.copy(), Y.astype(np.int8)), (torch.from_numpy(X), Y.tolist())]).fingerprint == base
    changed = X.copy()
    changed[3, 1] += 1
    others = [
        OwnData.from_clients([GOOD]),
        OwnData.from_clients([GOOD, (changed, Y)]),
        OwnData.from_clients([(changed, Y), GOOD]),
        OwnData.from_clients([GOOD, (X, (Y + 1) % 4)]),
        OwnData.from_clients([GOOD, GOOD], seed=1),
        OwnData.from_clients([GOOD, GOOD], num_classes=5),
        OwnData.from_clients([GOOD, GOOD], test_fraction=0.3),
        OwnData.from_clients([GOOD, GOOD], validation_fraction=0.3),
        OwnData.from_clients([ClientArrays(GOOD, test=GOOD)]),
        OwnData.from_clients([ClientArrays(GOOD, validation=GOOD)]),
    ]
    assert len({base, *(other.fingerprint for other in others)}) == 11


def with_value(value: float) -> np.ndarray[Any, Any]:
    x = X.copy()
    x[7, 1] = value
    return x


@pytest.mark.parametrize(
    ("clients", "sentence"),
    [
        ([], "there are no clients: give an (x, y) pair for at least one"),
        (5, "expected a list with an (x, y) pair for each client, got a int"),
        (ClientArrays(GOOD), "expected a list with an (x, y) pair for each client, got a ClientArrays"),
        ([GOOD, "ab"], "client 1: expected a pair (x, y) or ClientArrays, got a str"),
        ([GOOD, (X, Y, Y)], "client 1: expected a pair (x, y) or ClientArrays, got a tuple of 3"),
        ({"anna": GOOD}, "client 0: expected a pair (x, y) or ClientArrays, got a str"),
        ([GOOD, (X, Y[:19])], "client 1: has 20 inputs but 19 labels"),
        ([GOOD, (X[:, :1], Y)], "client 1: its inputs have shape (1,), but client 0's have (2,)"),
        (
            [GOOD, (X.astype(np.float64), Y)],
            "client 1: its inputs are float64, but client 0's are float32; use one type for all",
        ),
        (
            [GOOD, (X, Y + 0.5)],
            "client 1: the labels are not whole numbers; a label is the number of a class, 0, 1, 2 and so on",
        ),
        (
            [GOOD, (X, [1.0, float("nan")] * 10)],
            "client 1: the labels are not whole numbers; a label is the number of a class, 0, 1, 2 and so on",
        ),
        (
            [GOOD, (X, [1.00000001] * 20)],
            "client 1: the labels are not whole numbers; a label is the number of a class, 0, 1, 2 and so on",
        ),
        ([GOOD, (X, Y - 1)], "client 1: holds the label -1, but labels begin at 0"),
        (
            [GOOD, (X, Y + 1e30)],
            "client 1: holds the label 1000000000000000019884624838656, but 2147483648 classes are 0 to 2147483647",
        ),
        ([GOOD, (with_value(np.nan), Y)], "client 1: the inputs hold NaN or infinite values; clean or fill them first"),
        (
            [GOOD, (with_value(-np.inf), Y)],
            "client 1: the inputs hold NaN or infinite values; clean or fill them first",
        ),
        (
            [GOOD, ([[1e300, 0.0]] * 20, Y)],
            "client 1: the inputs hold NaN or infinite values; clean or fill them first",
        ),
        ([GOOD, (X[:0], Y[:0])], "client 1: holds no samples; leave it out"),
        ([GOOD, ([], [])], "client 1: holds no samples; leave it out"),
        (
            [GOOD, (X.astype(object), Y)],
            "client 1: the inputs are Python objects; give an array of numbers, every row of the same shape",
        ),
        (
            [GOOD, (X, [None] * 20)],
            "client 1: the labels are Python objects; give an array of numbers, every row of the same shape",
        ),
        ([GOOD, (X.astype(str), Y)], "client 1: the inputs are strings; give numbers"),
        (
            [GOOD, (X, ["cat", "dog"] * 10)],
            "client 1: its labels are names, but those of client 0 are numbers; use one kind for all",
        ),
        (
            [(X, ["cat", "dog"] * 10), ClientArrays((X, ["cat"] * 20), test=GOOD)],
            "client 1, test: its labels are numbers, but those of client 0 are names; use one kind for all",
        ),
        (
            [(X, ["cat", 1] * 10)],
            "client 0: the labels are names, but one is 1; use one kind, and leave none out",
        ),
        (
            [(X, np.array(["cat", None] * 10, dtype=object))],
            "client 0: the labels are names, but one is None; use one kind, and leave none out",
        ),
        (
            [(X, np.array([["cat"]] * 20))],
            "client 0: the labels have shape (20, 1), but must be one name per sample",
        ),
        (
            [(X, np.array([b"\xff"] * 20))],
            "client 0: the labels are bytes that are no UTF-8 text; give text or numbers",
        ),
        ([GOOD, (X.astype(complex), Y)], "client 1: the inputs are of type complex128, which are not plain numbers"),
        (
            [GOOD, (torch.from_numpy(X).to(torch.complex64), Y)],
            "client 1: the inputs are of type complex64, which are not plain numbers",
        ),
        (
            [GOOD, (torch.from_numpy(X).to_sparse(), Y)],
            "client 1: the inputs are a sparse tensor; call to_dense() first",
        ),
        (
            [GOOD, ([[1.0, 2.0], [3.0]], [0, 1])],
            "client 1: the inputs have rows of different shapes or are not numbers",
        ),
        ([GOOD, ([X[0], X[0, :1]], [0, 1])], "client 1: the inputs have rows of different shapes or are not numbers"),
        (
            [GOOD, (X[:, 0], Y)],
            "client 1: the inputs have shape (20,), but need a row of values per sample, such as (20, 1)",
        ),
        (
            [GOOD, (np.float32(1), Y)],
            "client 1: the inputs have shape (), but need a row of values per sample, such as (1, 1)",
        ),
        ([GOOD, (X, Y[:, None])], "client 1: the labels have shape (20, 1), but must be one number per sample"),
        ([GOOD, ClientArrays(GOOD, validation=(X[:0], Y[:0]))], "client 1, validation: holds no samples; leave it out"),
        ([GOOD, ClientArrays(GOOD, test=(X, Y[:3]))], "client 1, test: has 20 inputs but 3 labels"),
        ([ClientArrays(GOOD, test=(X[:, :1], Y))], "client 0: its inputs have shape (1,), but client 0's have (2,)"),
        ([ClientArrays(X)], "client 0, training: expected a pair (x, y) or ClientArrays, got a ndarray"),  # type: ignore[arg-type]
    ],
)
def test_a_mistake_is_a_sentence_that_names_the_client(clients: Any, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        OwnData.from_clients(clients)
    assert str(caught.value) == sentence


def test_a_label_beyond_the_classes_is_a_sentence() -> None:
    with pytest.raises(UserError, match="client 1: holds the label 3, but 3 classes are 0 to 2"):
        OwnData.from_clients([(X, Y % 3), GOOD], num_classes=3)
    assert OwnData.from_clients([GOOD], num_classes=4).num_classes == 4


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"num_classes": 0}, "num_classes"),
        ({"test_fraction": 1.5}, "test_fraction"),
        ({"validation_fraction": -1}, "validation_fraction"),
        ({"seed": "a"}, "seed"),
    ],
)
def test_a_bad_setting_is_a_sentence(settings: dict[str, Any], key: str) -> None:
    with pytest.raises(SettingError) as caught:
        OwnData.from_clients([GOOD], **settings)
    assert caught.value.key == key


needs_numpy_2 = pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="no such texts")
NAMED: list[Any] = [(X[:2], ["dog", "cat"]), ClientArrays((X[:3], ["emu", "cat", "ant"]), test=(X[:1], ["dog"]))]


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        lambda names: np.array(names, dtype=object),
        lambda names: np.array(names, dtype="S"),
        pytest.param(lambda names: np.array(names, dtype="T"), marks=needs_numpy_2),
    ],
)
def test_labels_may_be_names_which_are_numbered_over_all_clients(make: Callable[[Any], Any]) -> None:
    given: list[Any] = [
        (NAMED[0][0], make(NAMED[0][1])),
        ClientArrays(*((x, make(y)) for x, y in (NAMED[1].train, NAMED[1].test, NAMED[1].test))),
    ]
    data = OwnData.from_clients(given)
    assert data.class_names == ["ant", "cat", "dog", "emu"]
    assert data.num_classes == 4
    assert sorted(data.labels(0).tolist()) == [1, 2]
    assert data.train(1).y.tolist() == [3, 1, 0]
    assert data.test(1).y.tolist() == [2]


def test_the_order_of_the_classes_may_be_given() -> None:
    names = ["emu", "dog", "cat", "bee", "ant"]
    data = OwnData.from_clients(NAMED, class_names=names)
    assert data.class_names == names
    assert data.num_classes == 5
    assert data.test(1).y.tolist() == [1]
    assert OwnData.from_clients(NAMED, class_names=names, num_classes=9).num_classes == 9
    assert OwnData.from_clients([GOOD], class_names=names).num_classes == 5
    assert OwnData.from_clients([GOOD]).class_names is None
    prints = {OwnData.from_clients(NAMED, class_names=n).fingerprint for n in (None, names, names[::-1])}
    assert len(prints) == 3


@pytest.mark.parametrize(
    ("clients", "settings", "sentence"),
    [
        (
            NAMED,
            {"num_classes": 4},
            "num_classes: the labels are names, so give class_names, all of them in their order, or leave it out",
        ),
        (
            NAMED,
            {"class_names": ["cat", "dog", "emu"]},
            "client 1, training: holds the label 'ant', but the classes are cat, dog, emu",
        ),
        (NAMED, {"class_names": ["cat", "dog", "cat"]}, "class_names: names 'cat' twice"),
        (NAMED, {"class_names": "cat"}, "class_names: must be a list with the name of every class, got 'cat'"),
        (NAMED, {"class_names": []}, "class_names: must be a list with the name of every class, got []"),
        (NAMED, {"class_names": [1, 2]}, "class_names: must be a list with the name of every class, got [1, 2]"),
        ([GOOD], {"class_names": ["cat", "dog"]}, "client 0: holds the label 3, but 2 classes are 0 to 1"),
        ([GOOD], {"class_names": list("abcde"), "num_classes": 4}, "num_classes: 4 classes cannot have 5 names"),
    ],
)
def test_names_that_do_not_fit_are_a_sentence(clients: Any, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        OwnData.from_clients(clients, **settings)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("client", [-1, 1])
def test_a_client_that_is_not_there_is_a_sentence(client: int) -> None:
    data = OwnData.from_clients([GOOD])
    for ask in (data.train_size, data.train, data.validation, data.test):
        with pytest.raises(SettingError, match="client: must be from 0 to 0"):
            ask(client)
