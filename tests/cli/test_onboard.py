"""A real newcomer's data in, its model out."""

import re
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from safetensors import safe_open

from conftest import Program

CONFIG = """
algorithm: [{name: fedavg}, {name: fedper}, {name: superfed, nu: 1.0, start: 0.0}]
data: {dataset: digits, num_clients: 10, newcomers: 0.2, partition: iid}
model: {name: two_nn, width: 16}
training: {rounds: 3, clients_per_round: 4, local_epochs: 2, lr: 0.05}
evaluation: {newcomer_epochs: 2}
engine: {workers: 1}
"""


@pytest.fixture(scope="module")
def runs(superfed: Program, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("onboard")
    (folder / "config.yaml").write_text(CONFIG)
    done = superfed("run", folder / "config.yaml", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder / "out"


@pytest.fixture
def client(tmp_path: Path) -> Path:
    from sklearn.datasets import load_digits

    digits = load_digits()
    mine = np.isin(digits.target, [3, 8])
    x = (digits.images[mine][:60, None] / 16).astype("float32")
    np.savez(tmp_path / "client.npz", x=x, y=digits.target[mine][:60])
    return tmp_path / "client.npz"


def test_its_model_is_written_and_good(superfed: Program, runs: Path, client: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.safetensors"
    done = superfed("onboard", runs / "superfed-mm-seed0", "--data", client, "--epochs", 8, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "43 samples to train on, 5 to choose λ on, 12 to test on" in done.stdout
    assert "accuracy as it arrives: " in done.stdout
    parameters = safetensors.numpy.load_file(out)
    assert sum(p.size for p in parameters.values()) == 64 * 16 + 16 + 16 * 16 + 16 + 16 * 10 + 10
    with safe_open(out, framework="np") as file:
        about = file.metadata()
    assert about["method"] == "SuPerFed-MM"
    assert 0 <= float(about["lam"]) <= 1
    assert float(about["test_accuracy"]) > 0.8


def test_with_no_epochs_it_gets_the_global_model(superfed: Program, runs: Path, client: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.safetensors"
    assert superfed("onboard", runs / "fedavg-seed0", "--data", client, "--epochs", 0, "--out", out).returncode == 0
    (checkpoint,) = (runs / "fedavg-seed0" / "checkpoints").glob("server.*")
    w = safetensors.numpy.load_file(checkpoint)["w"]
    written = np.concatenate([p.ravel() for p in safetensors.numpy.load_file(out).values()])
    assert sorted(written.tolist()) == sorted(w.tolist())


def test_where_there_is_none_it_is_told_to_train(superfed: Program, runs: Path, client: Path, tmp_path: Path) -> None:
    done = superfed("onboard", runs / "fedper-seed0", "--data", client, "--epochs", 0, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "superfed: FedPer has no global model to start from, so a newcomer must train: give --epochs\n"
    )
    done = superfed("onboard", runs / "fedper-seed0", "--data", client, "--epochs", 1, cwd=tmp_path)
    assert "accuracy as it arrives: not possible: the method has no global model" in done.stdout
    assert (tmp_path / "newcomer.safetensors").exists()


def test_newcomers_are_in_the_store_and_in_the_table(superfed: Program, runs: Path) -> None:
    import json

    import pyarrow.parquet

    summary = json.loads((runs / "fedavg-seed0" / "summary.json").read_text())
    assert summary["num_clients"] == 8
    assert summary["newcomers"]["num_clients"] == 2
    assert summary["newcomers"]["epochs"] == 2
    table = pyarrow.parquet.read_table(runs / "fedavg-seed0" / "newcomers.parquet").to_pydict()
    assert set(table["way"]) == {"arriving", "adapted"}
    assert not set(table["client"]) & set(
        pyarrow.parquet.read_table(runs / "fedavg-seed0" / "clients.parquet").to_pydict()["client"]
    )
    assert json.loads((runs / "fedper-seed0" / "summary.json").read_text())["newcomers"]["arriving"] is None


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"x": np.zeros((5, 1, 8, 8), "float32")}, "holds no array 'y'"),
        (
            {"x": np.zeros((5, 1, 9, 8), "float32"), "y": np.zeros(5, int)},
            "its inputs have shape (1, 9, 8), and the model",
        ),
        ({"x": np.zeros((5, 1, 8, 8), "float32"), "y": np.full(5, 77)}, "client 0"),
        ({"x": np.zeros((5, 1, 8, 8), "float32"), "y": np.zeros(4, int)}, "client 0"),
        ({"x": np.full((5, 1, 8, 8), np.nan), "y": np.zeros(5, int)}, "the inputs hold NaN or infinite"),
    ],
)
def test_bad_data_is_a_sentence(
    superfed: Program, runs: Path, tmp_path: Path, arrays: dict[str, np.ndarray], sentence: str
) -> None:
    np.savez(tmp_path / "bad.npz", **arrays)  # type: ignore[arg-type]
    done = superfed("onboard", runs / "fedavg-seed0", "--data", tmp_path / "bad.npz", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"superfed: {tmp_path / 'bad.npz'}: {sentence}"), done.stderr
    assert not (tmp_path / "newcomer.safetensors").exists()


def test_a_file_that_is_none_is_a_sentence(superfed: Program, runs: Path, tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no arrays")
    for name, problem in (("text.npz", "is no .npz file"), ("nothing.npz", "there is no such file")):
        done = superfed("onboard", runs / "fedavg-seed0", "--data", tmp_path / name)
        assert done.returncode == 2
        assert done.stderr == f"superfed: {tmp_path / name}: {problem}\n"


def test_one_run_must_be_named(superfed: Program, runs: Path, client: Path) -> None:
    done = superfed("onboard", runs, "--data", client)
    assert done.returncode == 2
    assert "holds 3 runs; name one of them, for instance" in done.stderr


def test_raw_pixels_are_scaled_as_the_run_scaled_them(
    superfed: Program, runs: Path, client: Path, tmp_path: Path
) -> None:
    with np.load(client) as arrays:
        np.savez(tmp_path / "raw.npz", x=(arrays["x"] * 16).astype(np.uint8), y=arrays["y"])
    written = []
    for name in (client, tmp_path / "raw.npz"):
        out = tmp_path / "model.safetensors"
        done = superfed("onboard", runs / "superfed-mm-seed0", "--data", name, "--epochs", 1, "--out", out)
        assert done.returncode == 0, done.stderr
        written.append(safetensors.numpy.load_file(out))
    for key, value in written[0].items():
        assert np.array_equal(value, written[1][key]), key


def test_a_newcomer_names_classes_as_the_run_did(superfed: Program, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    (tmp_path / "clients").mkdir()
    animals = np.array(["cat", "dog", "emu"])
    for person in ("anna", "bob", "cleo"):
        y = rng.integers(0, 3, 40)
        x = (rng.normal(size=(40, 5)) + 3 * np.eye(3, 5)[y]).astype("float32")
        np.savez(tmp_path / "clients" / f"{person}.npz", x=x, y=animals[y])
    y = np.repeat([1, 2], 20)  # a newcomer without cats
    np.savez(tmp_path / "new.npz", x=(rng.normal(size=(40, 5)) + 3 * np.eye(3, 5)[y]).astype("float32"), y=animals[y])
    (tmp_path / "config.yaml").write_text(
        f"algorithm: fedavg\ndata: {{dataset: {{name: folder, path: {tmp_path / 'clients'}}}}}\n"
        "model: {name: two_nn, width: 8}\ntraining: {rounds: 5, clients_per_round: 3, lr: 0.05}\nengine: {workers: 1}\n"
    )
    done = superfed("run", tmp_path / "config.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    done = superfed(
        "onboard", tmp_path / "out" / "fedavg-seed0", "--data", tmp_path / "new.npz", "--epochs", 0, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (accuracy,) = re.findall(r"accuracy as it arrives: ([0-9.]+)", done.stdout)
    assert float(accuracy) > 80
