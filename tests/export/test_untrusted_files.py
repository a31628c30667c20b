"""Files that anyone may have written: none of them runs code unless it is trusted, and none is a traceback."""

import io
import json
import pickle
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from exported_runs import people, run_of

import superfed
from superfed.export.card import Card
from superfed.models import MODELS


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    client = superfed.load(people(folder / "run", "fedavg")).client("anna")
    files = {ending: folder / f"model.{ending}" for ending in ("safetensors", "onnx", "pt2")}
    for path in files.values():
        superfed.export_model(client, path)
    return files


def refused(path: Path, *, trust: bool = True) -> str:
    with pytest.raises(superfed.UserError) as caught:
        superfed.load_model(path, trust=trust)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize("ending", ["safetensors", "onnx", "pt2"])
def test_damaged_files(models: dict[str, Path], ending: str, tmp_path: Path) -> None:
    content = models[ending].read_bytes()
    path = tmp_path / f"bad.{ending}"
    for damaged in (b"", b"no model", content[: len(content) // 2], content[:20], b"\xff" * 64):
        path.write_bytes(damaged)
        assert "is no " in (sentence := refused(path)), sentence


def test_files_that_are_no_models(tmp_path: Path) -> None:
    assert refused(tmp_path / "model.onnx") == "there is no such file"
    assert refused(tmp_path / "model.pkl").startswith("is no model: its name ends in none of .safetensors, .onnx, .pt2")
    (tmp_path / "folder.onnx").mkdir()
    assert refused(tmp_path / "folder.onnx") == "cannot be read: Is a directory"
    safetensors.numpy.save_file({"w": np.zeros(3)}, tmp_path / "other.safetensors")
    assert refused(tmp_path / "other.safetensors").startswith("was not written by superfed export")


def rewritten(source: Path, target: Path, change: Callable[[dict[str, str]], object]) -> Path:
    """A safetensors file with another card."""
    content = source.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    change(header["__metadata__"])
    text = json.dumps(header).encode()
    target.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length :])
    return target


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("preprocessing", "{"),
        ("preprocessing", '{"input_shape": [-1], "dtype": "float32", "raw": "uint8", "scale": 1}'),
        ("preprocessing", '{"input_shape": [5], "dtype": "object", "raw": "uint8", "scale": 1}'),
        ("num_classes", '"three"'),
        ("num_classes", None),
        ("class_names", "[1, 2, 3]"),
        ("lam", "[]"),
        ("model", "[]"),
    ],
)
def test_cards_that_make_no_sense(models: dict[str, Path], tmp_path: Path, key: str, value: str | None) -> None:
    def change(card: dict[str, str]) -> None:
        card.pop(key) if value is None else card.update({key: value})

    path = rewritten(models["safetensors"], tmp_path / "bad.safetensors", change)
    assert refused(path).startswith("what it says of its model cannot be read")


def test_a_card_of_the_future(models: dict[str, Path], tmp_path: Path) -> None:
    path = rewritten(models["safetensors"], tmp_path / "new.safetensors", lambda card: card.update(superfed_model="2"))
    assert refused(path) == "has schema 2, and this program reads schema 1"


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ({"name": "three_nn"}, "its network, 'three_nn', is none of two_nn, "),
        ({"name": 3}, "its network, 3, is none of two_nn, "),
        ({"name": "two_nn", "width": "broad"}, "its network, two_nn, cannot be built here (must be a whole number"),
        ({"name": "two_nn", "depth": 3}, "its network, two_nn, cannot be built here (unknown"),
        ({"name": "two_nn", "width": 9}, "its weights do not fit the network it is said to be ("),
        ({"name": "two_nn", "width": 10**30}, "its network, two_nn, cannot be built here ("),
        ({"name": "two_cnn"}, "its network, two_cnn, cannot be built here (two_cnn takes images"),
        (
            {"name": "nowhere_at_all:net"},
            "its network, nowhere_at_all:net, cannot be built here (nowhere_at_all cannot",
        ),
    ],
)
def test_networks_that_cannot_be(models: dict[str, Path], tmp_path: Path, model: object, sentence: str) -> None:
    path = rewritten(
        models["safetensors"], tmp_path / "bad.safetensors", lambda card: card.update(model=json.dumps(model))
    )
    assert refused(path).startswith(sentence)


def test_a_function_is_imported_only_where_the_file_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_nets.py").write_text(
        "from pathlib import Path\nfrom torch import nn\n\nPath('was-imported').touch()\n\n\n"
        "def small(input_shape, num_classes, width: int = 4):\n"
        "    return nn.Sequential(nn.Linear(input_shape[0], width), nn.ReLU(), nn.Linear(width, num_classes))\n"
    )
    monkeypatch.chdir(tmp_path)
    try:
        run = superfed.load(people(tmp_path / "run", "fedavg", model={"name": "my_nets:small", "width": 5}))
        superfed.export_model(run.client(0), "model.safetensors")
        sys.modules.pop("my_nets")
        MODELS.pop("my_nets:small")
        (tmp_path / "was-imported").unlink()
        path = Path("model.safetensors")
        assert refused(path, trust=False).startswith("its network is built by my_nets:small, which would be imported")
        assert not (tmp_path / "was-imported").exists()
        x = run.task.data.test(0).x
        expected = run.client(0).model()(x).detach().numpy()
        assert np.abs(superfed.load_model(path, trust=True).scores(x) - expected).max() < 1e-6
        assert (tmp_path / "was-imported").exists()
    finally:
        sys.modules.pop("my_nets", None)
        MODELS.pop("my_nets:small", None)


def test_a_program_is_run_only_where_it_is_trusted(models: dict[str, Path]) -> None:
    assert refused(models["pt2"], trust=False).startswith("is a program, as every .pt2 file, and would be run; if")
    assert superfed.load_model(models["pt2"], trust=True).card.method == "FedAvg"


class Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (Path("exploded"),))


def archive(source: Path, target: Path, change: Callable[[dict[str, bytes]], object]) -> Path:
    with zipfile.ZipFile(source) as file:
        records = {entry.filename: file.read(entry) for entry in file.infolist()}
    change(records)
    with zipfile.ZipFile(target, "w") as file:
        for name, content in records.items():
            file.writestr(name, content)
    return target


def _pickled_weight(records: dict[str, bytes]) -> None:
    (name,) = [name for name in records if name.endswith("weights_config.json")]
    config = json.loads(records[name])
    first = next(iter(config["config"].values()))
    first["use_pickle"] = True
    records[name] = json.dumps(config).encode()


def _custom_object(records: dict[str, bytes]) -> None:
    (name,) = [name for name in records if name.endswith("constants_config.json")]
    about = {"path_name": "opaque_obj_0", "is_param": False, "use_pickle": False, "tensor_meta": None}
    records[name] = json.dumps({"config": {"bomb": about}}).encode()


@pytest.mark.parametrize(
    "change",
    [
        lambda records: records.update({"archive/data/sample_inputs/model.pt": pickle.dumps(Bomb())}),
        lambda records: records.update({"archive/data/weights/model.pt": pickle.dumps(Bomb())}),
        lambda records: records.update({"archive/data/constants/opaque_obj_0": pickle.dumps(Bomb())}),
        lambda records: records.update({"archive/data/aotinductor/model/a.so": b""}),
        _pickled_weight,
        _custom_object,
    ],
    ids=["samples", "weights", "constants", "compiled", "pickled weight", "custom object"],
)
def test_pickles_are_not_loaded_even_where_the_file_is_trusted(
    models: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[dict[str, bytes]], object],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = archive(models["pt2"], tmp_path / "bad.pt2", change)
    assert refused(path).startswith("holds pickled Python objects (")
    assert not Path("exploded").exists()


def test_a_name_twice_in_an_archive_is_damage(models: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "bad.pt2"
    path.write_bytes(models["pt2"].read_bytes())
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as file:
        file.writestr(file.namelist()[0], b"")
    assert refused(path).startswith("is no .pt2 file of torch.export or a damaged one")


def test_an_archive_written_here_holds_nothing_pickled(models: dict[str, Path]) -> None:
    with zipfile.ZipFile(io.BytesIO(models["pt2"].read_bytes())) as file:
        assert all(not file.read(entry).startswith(b"\x80") for entry in file.infolist())
        assert [entry.file_size for entry in file.infolist() if "sample_inputs" in entry.filename] == [0]


def test_the_card_survives_every_character(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", "two_nn", "fedavg")
    superfed.export_model(run, tmp_path / "model.safetensors")
    card = superfed.load_model(tmp_path / "model.safetensors").card
    texts = card.texts() | {"client": "3", "client_name": 'λ\n"\\<b>', "class_names": json.dumps(["a\nb", "ß"])}
    again = Card.from_texts(texts, "here")
    assert (again.client_name, again.class_names) == ('λ\n"\\<b>', ["a\nb", "ß"])
    assert again.texts() == texts
    assert again.called == "FedAvg, client 3 ('λ\\n\"\\\\<b>')"
