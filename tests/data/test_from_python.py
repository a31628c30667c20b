"""Pools from arrays, Hugging Face datasets and Flower's partitioners."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import superfed
from superfed.core.errors import UserError
from superfed.data.dataset import Dataset
from superfed.data.dealt import DealtDataset
from superfed.data.partitions import IID
from superfed.data.split import CUT, TEST

datasets = pytest.importorskip("datasets")
flower = pytest.importorskip("flwr_datasets.partitioner")

X = np.arange(18, dtype=np.float32).reshape(6, 3)
Y = [0, 1, 2, 1, 0, 1]
USERS = ["bob", "anna", "bob", "anna", "cleo", "bob"]
ROWS: dict[str, Any] = {"user": USERS, "label": Y, "x": X.tolist()}
PICTURES = [Image.fromarray(np.full((2, 3), 40 * i, dtype=np.uint8)) for i in range(6)]


def hf(columns: dict[str, Any] | None = None, **features: Any) -> Any:
    data = datasets.Dataset.from_dict(ROWS if columns is None else columns)
    for name, feature in features.items():
        data = data.cast_column(name, feature)
    return data


def partitioned(partitioner: Any, data: Any = None) -> Any:
    partitioner.dataset = hf() if data is None else data
    return partitioner


def owners(pool: Dataset) -> list[str]:
    assert pool.owners is not None
    return [pool.owners.names[place] for place in pool.owners.of.tolist()]


def test_arrays_with_and_without_clients() -> None:
    pool = superfed.from_arrays(X, Y, USERS)
    assert DealtDataset.deal(pool).client_names == ["anna", "bob", "cleo"]
    assert (owners(pool), pool.num_classes, pool.x.data_ptr()) == (USERS, 3, X.ctypes.data)
    unowned = superfed.from_arrays(torch.from_numpy(X), torch.tensor(Y), num_classes=5, scale=0.5)
    assert (unowned.owners, unowned.num_classes) == (None, 5)
    assert unowned.inputs(np.array([1])).tolist() == [[1.5, 2.0, 2.5]]
    assert DealtDataset.deal(unowned, IID(), 3).num_clients == 3


@pytest.mark.parametrize(
    "clients", [[2, 10, 2, 10, 7, 2], np.array([2, 10, 2, 10, 7, 2]), torch.tensor([2, 10, 2, 10, 7, 2])]
)
def test_clients_may_be_numbers(clients: Any) -> None:
    pool = superfed.from_arrays(X, Y, clients)
    assert owners(pool) == ["2", "10", "2", "10", "7", "2"]
    assert pool.owners is not None
    assert pool.owners.names == ["2", "7", "10"]


def test_arrays_may_have_names_for_labels_and_a_split() -> None:
    names = np.array(["b", "a", "c", "a", "b", "a"])
    split = ["train", "train", "train", "test", "train", "test"]
    pool = superfed.from_arrays(X, names, USERS, split=split)
    assert (pool.class_names, pool.y.tolist()) == (["a", "b", "c"], [1, 0, 2, 0, 1, 0])
    assert pool.parts is not None
    assert pool.parts.tolist() == [CUT, CUT, CUT, TEST, CUT, TEST]
    pool = superfed.from_arrays(X, names, USERS, class_names=["c", "b", "a", "none"])
    assert (pool.num_classes, pool.y.tolist()) == (4, [1, 2, 0, 2, 1, 2])


def test_a_pandas_frame_gives_its_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"user": USERS, "label": ["b", "a", "c", "a", "b", "a"], "p": X[:, 0], "q": X[:, 1]})
    pool = superfed.from_arrays(frame[["p", "q"]], frame["label"], frame["user"])
    assert (owners(pool), pool.class_names, pool.input_shape) == (USERS, ["a", "b", "c"], (2,))


def test_a_hugging_face_dataset() -> None:
    pool = superfed.from_hf(hf(), client="user")
    assert owners(pool) == USERS
    assert (pool.x.tolist(), pool.y.tolist(), pool.scale) == (X.tolist(), Y, 1.0)
    assert DealtDataset.deal(pool).num_clients == 3


def test_names_of_classes_and_clients_are_kept() -> None:
    kinds = datasets.ClassLabel(names=["zero", "one", "two", "three"])
    people = datasets.ClassLabel(names=["z", "y", "x"])
    data = hf(ROWS | {"user": [0, 1, 0, 1, 2, 0]}, label=kinds, user=people)
    pool = superfed.from_hf(data, client="user")
    assert (pool.class_names, pool.num_classes, pool.y.tolist()) == (["zero", "one", "two", "three"], 4, Y)
    assert owners(pool) == ["z", "y", "z", "y", "x", "z"]
    named = superfed.from_hf(hf(ROWS | {"label": ["q", "p", "q", "p", "q", "p"]}), client="user")
    assert (named.class_names, named.y.tolist()) == (["p", "q"], [1, 0, 1, 0, 1, 0])


def test_images_are_decoded_and_scaled(tmp_path: Path) -> None:
    rows = {"user": USERS, "label": Y, "age": Y, "picture": PICTURES}
    pool = superfed.from_hf(hf(rows), client="user")
    assert (pool.x.dtype, pool.input_shape, pool.scale) == (torch.uint8, (1, 2, 3), 1 / 255)
    assert pool.x[:, 0, 0, 0].tolist() == [0, 40, 80, 120, 160, 200]
    paths = [str(tmp_path / f"{i}.png") for i in range(6)]
    for path, picture in zip(paths, PICTURES, strict=True):
        picture.convert("RGB").save(path)
    elsewhere = hf(rows | {"picture": paths}, picture=datasets.Image())
    pool = superfed.from_hf(elsewhere, client="user", scale=1.0)
    assert (pool.input_shape, pool.scale) == ((3, 2, 3), 1.0)
    Path(paths[4]).unlink()
    with pytest.raises(UserError) as caught:
        superfed.from_hf(elsewhere, client="user")
    assert str(caught.value) == "from_hf, column 'picture', row 4: has no bytes of an image"


def test_shuffled_and_selected_rows_arrays_and_numbers() -> None:
    grids = hf(ROWS | {"x": X.reshape(6, 1, 3).tolist()}, x=datasets.Array2D((1, 3), "float32")).select([4, 2, 0])
    pool = superfed.from_hf(grids, client="user")
    assert (pool.input_shape, pool.x[:, 0, 0].tolist(), owners(pool)) == ((1, 3), [12, 6, 0], ["cleo", "bob", "bob"])
    numbers = {"user": USERS, "label": Y, "a": X[:, 0].tolist(), "text": USERS, "b": [1, 2, 3, 4, 5, 6]}
    pool = superfed.from_hf(hf(numbers).with_format("numpy"), client="user")
    assert pool.x.tolist() == [[a, b] for a, b in zip(numbers["a"], numbers["b"], strict=True)]


def test_a_split_column() -> None:
    pool = superfed.from_hf(hf(ROWS | {"part": ["train"] * 5 + ["test"]}), client="user", split="part")
    assert pool.parts is not None
    assert pool.parts.tolist() == [CUT] * 5 + [TEST]


@pytest.mark.filterwarnings("ignore:Specifying null_placement:FutureWarning")  # datasets' own
def test_flowers_partitioners_are_clients() -> None:
    data = hf({"label": ["a", "b"] * 20, "x": np.arange(80.0).reshape(40, 2).tolist()})
    for partitioner in (
        flower.IidPartitioner(4),
        flower.DirichletPartitioner(4, "label", 1.0, min_partition_size=2),
        flower.ShardPartitioner(4, "label", num_shards_per_partition=2),
    ):
        pool = superfed.from_partitioner(partitioned(partitioner, data))
        federated = DealtDataset.deal(pool)
        assert (federated.num_clients, pool.class_names, pool.input_shape) == (4, ["a", "b"], (2,))
        for client in range(4):
            theirs = partitioner.load_partition(client)["x"]
            mine = pool.inputs(federated.partition.client(client)).tolist()
            assert mine == [list(row) for row in theirs]


def test_flowers_natural_ids_are_the_clients_names() -> None:
    by_number = hf({"user": [7, 3, 7, 3, 9, 7], "label": Y, "a": X[:, 0].tolist()})
    pool = superfed.from_partitioner(partitioned(flower.NaturalIdPartitioner("user"), by_number))
    assert DealtDataset.deal(pool).client_names == ["3", "7", "9"]
    assert pool.input_shape == (1,)  # whose a row is, is no input
    pool = superfed.from_partitioner(partitioned(flower.NaturalIdPartitioner("user")))
    assert DealtDataset.deal(pool).client_names == ["anna", "bob", "cleo"]


def test_a_federated_dataset_with_one_partitioner_will_do() -> None:
    class Federated:
        """What Flower's FederatedDataset looks like; the real one goes to the hub."""

        def __init__(self, **partitioners: Any) -> None:
            self.partitioners = partitioners

    one = partitioned(flower.IidPartitioner(2))
    assert DealtDataset.deal(superfed.from_partitioner(Federated(train=one))).num_clients == 2
    with pytest.raises(UserError) as caught:
        superfed.from_partitioner(Federated(train=one, test=one))
    assert str(caught.value) == (
        "from_partitioner: there are partitioners for train, test; give one of them, such as partitioners['train']"
    )


def empty_partition() -> Any:
    class Uneven(flower.IidPartitioner):  # type: ignore[misc, name-defined]
        def load_partition(self, partition_id: int) -> Any:
            return self.dataset.select(range(0 if partition_id else 6))

    return partitioned(Uneven(2))


def failing() -> Any:
    class Failing(flower.IidPartitioner):  # type: ignore[misc, name-defined]
        def load_partition(self, partition_id: int) -> Any:
            raise ValueError("The max number of attempts\n(10) was reached.")

    return partitioned(Failing(2))


def changing(**columns: Any) -> Any:
    class Changing(flower.IidPartitioner):  # type: ignore[misc, name-defined]
        def load_partition(self, partition_id: int) -> Any:
            return hf(ROWS | columns) if partition_id else hf()

    return partitioned(Changing(2))


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: superfed.from_arrays(X, Y[:5]), "from_arrays: has 6 inputs but 5 labels"),
        (lambda: superfed.from_arrays([], []), "from_arrays: holds no samples; leave it out"),
        (
            lambda: superfed.from_arrays(X[:, 0], Y),
            "from_arrays: the inputs have shape (6,), but need a row of values per sample, such as (6, 1)",
        ),
        (lambda: superfed.from_arrays(X, Y, USERS[:5]), "clients: has 5 values for 6 samples"),
        (lambda: superfed.from_arrays(X, Y, 5), "clients: is no list with one value for each sample, all of one kind"),
        (
            lambda: superfed.from_arrays(X, Y, ["1", 1, "1", 1, "1", 1]),
            "clients: is no list with one value for each sample, all of one kind",
        ),
        (
            lambda: superfed.from_arrays(X, Y, ["a", None, "a", None, "a", "a"]),
            "clients: holds nulls in 2 of 6 rows; fill or drop them",
        ),
        (
            lambda: superfed.from_arrays(X, Y, [0.5] * 6),
            "clients: holds double, but a client is a name or a whole number",
        ),
        (
            lambda: superfed.from_arrays(X, Y, USERS, split=["train"] * 5 + ["dev"]),
            "split: holds 'dev', but a split is train, validation or test",
        ),
        (lambda: superfed.from_arrays(X, Y, scale=0), "scale: must be more than 0, not 0"),
        (lambda: superfed.from_arrays(X, Y, num_classes=2), "from_arrays: holds the label 2, but 2 classes are 0 to 1"),
        (
            lambda: superfed.from_hf([1, 2], client="user"),
            "from_hf: expected a Hugging Face Dataset, held in memory or on disk, got a list",
        ),
        (
            lambda: superfed.from_hf(datasets.DatasetDict({"train": hf(), "test": hf()}), client="user"),
            "from_hf: got 2 datasets (train, test); give one of them",
        ),
        (
            lambda: superfed.from_hf(hf().to_iterable_dataset(), client="user"),
            "from_hf: expected a Hugging Face Dataset, held in memory or on disk, got a IterableDataset",
        ),
        (
            lambda: superfed.from_hf(hf().with_transform(lambda rows: rows), client="user"),
            "from_hf: the dataset has a transform, which would be lost; apply it by map() first",
        ),
        (lambda: superfed.from_hf(hf(), client="writer"), "from_hf: has no column 'writer', only user, label, x"),
        (lambda: superfed.from_hf(hf(), client="user", inputs="z"), "from_hf: has no column 'z', only user, label, x"),
        (
            lambda: superfed.from_hf(
                hf(ROWS | {"label": [-1] * 6}, label=datasets.ClassLabel(names=["a"])), client="user"
            ),
            "from_hf, column 'label': holds the label -1, but labels begin at 0",
        ),
        (
            lambda: superfed.from_hf(hf(ROWS | {"user": [None, *USERS[1:]]}), client="user"),
            "from_hf, column 'user': holds nulls in 1 of 6 rows; fill or drop them",
        ),
        (
            lambda: superfed.from_hf(hf(), client="user", label="user"),
            "label: 'user' is already used for something else",
        ),
        (
            lambda: superfed.from_hf(
                hf(ROWS | {"user": [0, -1] * 3}, user=datasets.ClassLabel(names=["a", "b"])), client="user"
            ),
            "from_hf, column 'user': holds -1, but 2 names are for 0 to 1",
        ),
        (lambda: superfed.from_hf(hf().select([]), client="user"), "from_hf: holds no samples; leave it out"),
        (lambda: superfed.from_partitioner(5), "from_partitioner: expected a partitioner, got a int"),
        (
            lambda: superfed.from_partitioner(flower.IidPartitioner(2)),
            "from_partitioner: the partitioner has no dataset yet; set its dataset first",
        ),
        (
            lambda: superfed.from_partitioner(failing()),
            "from_partitioner: the partitioner failed: The max number of attempts (10) was reached.",
        ),
        (lambda: superfed.from_partitioner(empty_partition()), "partition 1: holds no samples; leave it out"),
        (
            lambda: superfed.from_partitioner(changing(x=[[1.0]] * 6)),
            "partition 1: its inputs have shape (1,), but those of partition 0 have (3,); use one shape for all",
        ),
        (
            lambda: superfed.from_partitioner(changing(x=[[1, 2, 3]] * 6)),
            "partition 1: its inputs are int64, but those of partition 0 are float32; use one type for all",
        ),
    ],
)
def test_a_mistake_is_a_sentence(ask: Any, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        ask()
    assert str(caught.value) == sentence


def test_no_package_is_needed_before_it_is_used() -> None:
    code = (
        "import sys, superfed; superfed.from_arrays([[1.0]], [0], ['a']); superfed.from_hf; superfed.from_partitioner;"
        "print(sorted({'datasets', 'flwr_datasets', 'PIL'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
