"""superfed predict, on every kind of file that samples come in."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from exported_runs import ANIMALS, people, run_of
from PIL import Image

import superfed as library
from conftest import Program

Saved = tuple[library.FittedClient, dict[str, Path]]


@pytest.fixture(scope="module")
def animals(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """A client of a table's run, in every format."""
    folder = tmp_path_factory.mktemp("animals")
    client = library.load(people(folder / "run")).client("anna")
    files = {ending: folder / f"model.{ending}" for ending in ("safetensors", "onnx", "pt2")}
    for path in files.values():
        library.export_model(client, path)
    return client, files


@pytest.fixture(scope="module")
def pixels(tmp_path_factory: pytest.TempPathFactory) -> tuple[library.FittedRun, Path]:
    folder = tmp_path_factory.mktemp("pixels")
    run = run_of(folder / "run", "two_cnn", "fedavg")
    library.export_model(run, folder / "model.safetensors")
    return run, folder / "model.safetensors"


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> tuple[library.FittedRun, Path]:
    folder = tmp_path_factory.mktemp("letters")
    run = run_of(folder / "run", "stacked_lstm", "fedavg")
    library.export_model(run, folder / "model.onnx")
    return run, folder / "model.onnx"


def held_out(animals: Saved) -> tuple[np.ndarray, np.ndarray]:
    samples = animals[0].run.task.data.test(animals[0].index)
    return samples.x.numpy(), samples.y.numpy()


def as_json(superfed: Program, *arguments: object) -> dict[str, Any]:
    done = superfed("predict", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("ending", ["safetensors", "onnx", "pt2"])
def test_it_says_what_the_run_said(superfed: Program, animals: Saved, ending: str, tmp_path: Path) -> None:
    (client, files), (x, y) = animals, held_out(animals)
    np.savez(tmp_path / "x.npz", x=x, y=ANIMALS[y])
    trust = ["--trust"] if ending == "pt2" else []
    found = as_json(superfed, files[ending], "--data", tmp_path / "x.npz", *trust)
    assert found["metrics"]["accuracy"] == pytest.approx(client.accuracy)
    assert found["metrics"]["loss"] == pytest.approx(
        client.subspace.curve(points=11).loss[round(10 * found_lambda(client))]
    )
    assert found["metrics"].keys() == {"accuracy", "loss", "ece"}
    probabilities = client.model()(client.run.task.data.test(client.index).x).softmax(1).detach().numpy()
    for row, expected in zip(found["samples"], probabilities, strict=True):
        assert row["class"] == int(expected.argmax())
        assert row["name"] == ANIMALS[row["class"]]
        assert row["probability"] == pytest.approx(float(expected.max()), abs=1e-5)
        np.testing.assert_allclose(row["probabilities"], expected, atol=1e-5)


def found_lambda(client: library.FittedClient) -> float:
    assert client.best_lambda is not None
    return client.best_lambda


def test_the_table_on_the_terminal(superfed: Program, animals: Saved, tmp_path: Path) -> None:
    (client, files), (x, y) = animals, held_out(animals)
    np.savez(tmp_path / "x.npz", x=x, y=y)
    done = superfed("predict", files["onnx"], "--data", tmp_path / "x.npz")
    head, columns, *rows, summary = done.stdout.splitlines()
    assert head == f"SuPerFed-MM, client {client.index} (anna), λ = {client.best_lambda:g}; onnx"
    assert columns.split() == ["sample", "class", "probability", "label"]
    assert len(rows) == len(x)
    assert any("'emu '" in row for row in rows), "a name that no terminal can show is quoted"
    assert summary.startswith(f"{len(x)} samples; accuracy {client.accuracy:.1%}, loss ")
    np.save(tmp_path / "x.npy", x[0])
    done = superfed("predict", files["onnx"], "--data", tmp_path / "x.npy")
    assert done.stdout.splitlines()[-1] == "1 sample; no labels to compare with"


def test_tables_are_read_as_the_run_read_its_own(superfed: Program, animals: Saved, tmp_path: Path) -> None:
    (client, files), (x, y) = animals, held_out(animals)
    columns = {"person": [7] * len(x)} | {f"f{i}": x[:, i] for i in range(5)}  # a number, but no input
    labelled = pyarrow.table({"animal": ANIMALS[y]} | columns)
    pyarrow.parquet.write_table(labelled, tmp_path / "a.parquet")
    pyarrow.csv.write_csv(labelled.rename_columns(["creature", *columns]), tmp_path / "a.csv")
    pyarrow.csv.write_csv(pyarrow.table(columns), tmp_path / "bare.csv")
    pyarrow.parquet.write_table(pyarrow.table({"lists": list(x), "label": y}), tmp_path / "lists.parquet")
    for arguments in (
        [tmp_path / "a.parquet"],
        [tmp_path / "a.csv", "--label", "creature"],
        [tmp_path / "lists.parquet"],
    ):
        found = as_json(superfed, files["safetensors"], "--data", *arguments)
        assert found["metrics"]["accuracy"] == pytest.approx(client.accuracy), arguments
    assert as_json(superfed, files["safetensors"], "--data", tmp_path / "bare.csv")["metrics"] is None


def test_predictions_go_into_files(superfed: Program, animals: Saved, tmp_path: Path) -> None:
    (_, files), (x, y) = animals, held_out(animals)
    np.savez(tmp_path / "x.npz", x=x, y=y)
    for ending in ("json", "csv", "parquet"):
        out = tmp_path / f"out.{ending}"
        done = superfed("predict", files["safetensors"], "--data", tmp_path / "x.npz", "-o", out)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == f"predictions: {out}"
    rows = json.loads((tmp_path / "out.json").read_text())["samples"]
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [row["name"] for row in csv.DictReader(file)] == [row["name"] for row in rows]
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pydict()
    assert table["class"] == [row["class"] for row in rows]
    assert table["label"] == y.tolist()


def test_images_one_many_and_by_class(
    superfed: Program, pixels: tuple[library.FittedRun, Path], tmp_path: Path
) -> None:
    run, model = pixels
    samples = run.task.data.test(0)
    raw = (samples.x.numpy() * 255).round().astype("uint8")
    expected = run.global_model()(samples.x).argmax(1).tolist()
    for place, (image, label) in enumerate(zip(raw, samples.y.tolist(), strict=True)):
        folder = tmp_path / "classes" / str(label)
        folder.mkdir(parents=True, exist_ok=True)
        (tmp_path / "flat").mkdir(exist_ok=True)
        for target in (folder / f"{place}.png", tmp_path / "flat" / f"{place}.png"):
            Image.fromarray(image[0]).save(target)
    one = as_json(superfed, model, "--data", tmp_path / "flat" / "0.png")
    assert [(row["sample"], row["class"]) for row in one["samples"]] == [("0.png", expected[0])]
    flat = as_json(superfed, model, "--data", tmp_path / "flat")
    assert [row["class"] for row in flat["samples"]] == expected
    assert flat["metrics"] is None
    by_class = as_json(superfed, model, "--data", tmp_path / "classes")
    hits = np.mean(np.array(expected) == samples.y.numpy())
    assert by_class["metrics"]["accuracy"] == pytest.approx(float(hits))
    np.savez(tmp_path / "raw.npz", x=raw)
    np.savez(tmp_path / "scaled.npz", x=samples.x.numpy())
    both = [as_json(superfed, model, "--data", tmp_path / f"{name}.npz")["samples"] for name in ("raw", "scaled")]
    for one_row, other in zip(*both, strict=True):
        np.testing.assert_allclose(one_row["probabilities"], other["probabilities"], atol=1e-6)


def test_text(superfed: Program, letters: tuple[library.FittedRun, Path], tmp_path: Path) -> None:
    run, model = letters
    (tmp_path / "long.txt").write_text("to sea\n in to sea  in t€ sea", encoding="utf-8")
    found = as_json(superfed, model, "--data", tmp_path / "long.txt")
    text = "to sea in to sea in t  sea"
    alphabet = run.preprocessing.alphabet
    assert alphabet is not None
    assert "".join(alphabet[row["label"]] for row in found["samples"]) == text[10:]
    (tmp_path / "short.txt").write_text("to sea in \n")
    (next_one,) = as_json(superfed, model, "--data", tmp_path / "short.txt")["samples"]
    assert "label" not in next_one
    assert next_one["class"] == found["samples"][0]["class"]
    tokens = np.array([[alphabet.index(c) for c in "to sea in "]])
    np.savez(tmp_path / "tokens.npz", x=tokens)
    assert as_json(superfed, model, "--data", tmp_path / "tokens.npz")["samples"][0]["class"] == next_one["class"]


def arrays(**given: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        np.savez(folder / "bad.npz", **given)
        return folder / "bad.npz"

    return write


def content(name: str, data: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return write


def folder_of(*names: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / "images").mkdir()
        for name in names:
            Image.fromarray(np.zeros((4, 4), "uint8")).save(folder / "images" / name)
        return folder / "images"

    return write


X = np.zeros((3, 5), "float32")
BAD: list[tuple[str, Callable[[Path], Path], list[str], str]] = [
    ("animals", arrays(x=X[:, :4]), [], "its inputs have shape (4,), and the model was trained on (5,)"),
    ("animals", arrays(x=np.full((3, 5), np.nan)), [], "the inputs hold NaN or infinite values"),
    ("animals", arrays(x=np.array([["a"] * 5])), [], "the inputs are strings; give numbers"),
    ("animals", arrays(x=np.full((3, 5), 1e300)), [], "the inputs hold values that are too large for float32"),
    ("animals", arrays(x=X[:0]), [], "the inputs have shape (0, 5)"),
    ("animals", arrays(z=X), [], "has no array 'x', only z"),
    ("animals", arrays(x=X), ["--label", "y"], "has no array 'y', only x"),
    ("animals", arrays(x=X, y=np.zeros(2, int)), [], "has 3 inputs but 2 labels"),
    ("animals", arrays(x=X, y=np.array([0, 1, 9])), [], "holds the label 9, but 3 classes are 0 to 2"),
    ("animals", arrays(x=X, y=np.array(["cat", "cat", "yak"])), [], "holds the label 'yak', but the classes are cat,"),
    ("animals", arrays(x=np.array([None, X], dtype=object)), [], "its array 'x' holds pickled Python objects"),
    ("animals", content("bad.npz", b"no arrays"), [], "is no .npz file or a damaged one"),
    ("animals", content("bad.npy", b"no array"), [], "is no .npy file of plain numbers, or a damaged one"),
    ("animals", content("bad.csv", b"f0,f1\n1,2\n"), [], "its inputs have shape (2,), and the model was trained on"),
    ("animals", content("bad.csv", b"f0,f1,f2,f3,f4\n1,2,,4,5\n1,2,3,4,5\n"), [], "column 'f2': holds nulls"),
    ("animals", content("bad.parquet", b"PAR"), [], "cannot be read as Parquet"),
    ("animals", content("bad.h5", b""), [], "is of no kind that is known; give .npz, .npy, .parquet, .csv, .png"),
    ("animals", content("bad.txt", b"abc"), [], "is text, and the model takes inputs of shape (5,)"),
    ("animals", folder_of("a.png"), [], "holds images, and the model takes inputs of shape (5,)"),
    ("pixels", folder_of("a.png"), [], "is an image of 4×4 pixels, expected 8×8"),
    ("pixels", folder_of(), [], "holds no images (.png, .jpg, .jpeg), nor folders of them"),
    ("pixels", content("bad.png", b"no image"), [], "is not a JPEG or PNG image"),
    ("pixels", content("a.txt", b"abc"), ["--label", "y"], "has no columns or arrays with names; leave --label and"),
    ("pixels", arrays(x=np.zeros((2, 1, 8, 8), "uint8"), y=np.array(["a", "b"])), [], "its labels are names, but the"),
    ("letters", content("bad.txt", b"too short"), [], "has 9 characters, and the model reads 10 at a time"),
    ("letters", content("bad.txt", b"\xff" * 20), [], "is not UTF-8 text"),
    (
        "letters",
        arrays(x=np.zeros((2, 10), "float32")),
        [],
        "the inputs are float32, but the model takes the numbers of",
    ),
    (
        "letters",
        arrays(x=np.full((2, 10), 80)),
        [],
        "the inputs hold 80, but the numbers of symbols begin at 0 and end",
    ),
    (
        "letters",
        arrays(x=np.full((2, 10), -1)),
        [],
        "the inputs hold -1, but the numbers of symbols begin at 0 and end",
    ),
]


@pytest.mark.parametrize(("what", "write", "arguments", "sentence"), BAD, ids=[f"{b[0]}: {b[3][:40]}" for b in BAD])
def test_bad_samples_are_a_sentence(
    superfed: Program,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    what: str,
    write: Callable[[Path], Path],
    arguments: list[str],
    sentence: str,
) -> None:
    given = request.getfixturevalue(what)
    model = given[1]["safetensors"] if what == "animals" else given[1]
    done = superfed("predict", model, "--data", write(tmp_path), *arguments)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith(f"superfed: {tmp_path}"), done.stderr
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_other_mistakes(superfed: Program, animals: Saved, tmp_path: Path) -> None:
    model = animals[1]["safetensors"]
    np.save(tmp_path / "x.npy", X)
    for arguments, sentence in (
        ([tmp_path / "no.onnx", "--data", tmp_path / "x.npy"], f"{tmp_path / 'no.onnx'}: there is no such file"),
        ([model, "--data", tmp_path / "no.npy"], f"{tmp_path / 'no.npy'}: there is no such file"),
        ([model, "--data", tmp_path / "x.npy", "-o", "a.txt"], "a.txt: predictions are written to a file that ends in"),
        ([model, "--data", tmp_path / "x.npy", "--label", "y"], f"{tmp_path / 'x.npy'}: is one array without a name"),
    ):
        done = superfed("predict", *arguments, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith(f"superfed: {sentence}"), done.stderr


def test_images_need_a_model_that_was_trained_on_bytes(tmp_path: Path) -> None:
    from torch import nn

    from superfed.export.samples.reading import read_samples

    def network() -> nn.Module:
        return nn.Sequential(nn.Flatten(), nn.Linear(16, 2))

    Image.fromarray(np.zeros((4, 4), "uint8")).save(tmp_path / "a.png")
    for kind, able in (("uint8", True), ("float32", False)):
        clients = [(np.zeros((9, 1, 4, 4), kind), np.arange(9) % 2)] * 2
        library.export_model(library.fit(clients, network, "fedavg", rounds=1, workers=1), tmp_path / "m.safetensors")
        card = library.load_model(tmp_path / "m.safetensors", model=network).card
        if able:
            assert read_samples(tmp_path / "a.png", card).x.shape == (1, 1, 4, 4)
        else:
            with pytest.raises(library.UserError, match="but the model was trained on float32 inputs, and how these"):
                read_samples(tmp_path / "a.png", card)
