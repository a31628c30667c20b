"""superfed export, as it is called."""

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported_runs import ANIMALS, PEOPLE, people, run_of
from safetensors import safe_open
from safetensors.torch import load_file

import superfed as library
from conftest import Program
from superfed.export.every_client import file_name
from superfed.store.files import read_json, write_json


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four clients with odd names, by five methods."""
    methods = [{"name": "superfed", "mixing": mixing, "start": 0.0} for mixing in ("model", "layer")]
    return people(tmp_path_factory.mktemp("people"), [*methods, "fedavg", "fedper", "apfl"])


@pytest.fixture(scope="module")
def mixed(out: Path) -> Path:
    return out / "superfed-mm-seed0"


def about(path: Path) -> dict[str, str]:
    with safe_open(path, framework="np") as file:
        return dict(file.metadata())


def test_a_client_by_its_name_or_its_number(superfed: Program, mixed: Path, tmp_path: Path) -> None:
    run = library.load(mixed)
    names = list(run.client_names or [])
    assert sorted(names) == sorted(PEOPLE)
    for name in names:
        done = superfed("export", mixed, "--client", name, "-o", tmp_path / "model.safetensors")
        assert done.returncode == 0, done.stderr
        told = about(tmp_path / "model.safetensors")
        assert told["client_name"] == name
        assert json.loads(told["client"]) == names.index(name)
        assert json.loads(told["class_names"]) == ANIMALS.tolist()
        assert json.loads(told["lam"]) == run.client(name).best_lambda
        assert json.loads(told["model"])["name"] == "two_nn"
        assert json.loads(told["columns"])["others"] == ["person"]
    done = superfed("export", mixed, "--client", names.index("anna"), "-o", tmp_path / "model.safetensors")
    assert "(anna)" in done.stdout
    assert "its scores are exactly the run's" in done.stdout
    done = superfed("export", mixed, "--client", "anna", cwd=tmp_path)
    assert done.stdout.startswith(f"{file_name(run.client('anna'), 'safetensors')}: ")


def test_the_layers_of_lm_share_the_one_lambda(superfed: Program, out: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    done = superfed("export", out / "superfed-lm-seed0", "--client", 0, "--lam", "0.25", "-o", path)
    assert done.returncode == 0, done.stderr
    client = library.load(out / "superfed-lm-seed0").client(0)
    ends = [client.model(lam).state_dict() for lam in (0.0, 1.0)]
    for name, tensor in load_file(path).items():
        expected = 0.75 * ends[0][name] + 0.25 * ends[1][name]
        assert float((tensor - expected).abs().max()) < 1e-6


def test_a_method_may_have_chosen_itself(superfed: Program, out: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    assert superfed("export", out / "apfl-seed0", "--client", 0, "--lam", "own", "-o", path).returncode == 0
    assert json.loads(about(path)["lam"]) == 0.25


def test_all_clients_at_once(superfed: Program, mixed: Path, tmp_path: Path) -> None:
    done = superfed("export", mixed, "--all", "-o", tmp_path / "models")
    assert done.returncode == 0, done.stderr
    files = sorted((tmp_path / "models").iterdir())
    assert len(files) == 4
    assert sorted(about(path)["client_name"] for path in files) == sorted(PEOPLE)
    assert len(done.stdout.splitlines()) == 4
    assert all(path.name.startswith(f"client-{place:04d}-") for place, path in enumerate(files))
    assert all(path.parent == tmp_path / "models" for path in tmp_path.rglob("*.safetensors"))


def test_the_only_run_of_an_experiment_need_not_be_named(superfed: Program, tmp_path: Path) -> None:
    run = people(tmp_path, "fedavg")
    done = superfed("export", run, "--global", "-o", tmp_path / "model.safetensors")
    assert done.returncode == 0, done.stderr
    assert "client" not in about(tmp_path / "model.safetensors")
    assert "lam" not in about(tmp_path / "model.safetensors")
    assert superfed("export", run, "--client", 0, "--lam", "best", "-o", tmp_path / "a.safetensors").returncode == 0


MISTAKES: list[tuple[str, list[str], str]] = [
    ("superfed-mm", [], "export: give one of --client ID, --global and --all"),
    ("superfed-mm", ["--client", "0", "--global"], "export: give one of --client ID, --global and --all"),
    ("superfed-mm", ["--client", "zoe"], "client 'zoe': there is none of this name; there are "),
    ("superfed-mm", ["--client", "99"], "client 99: there are 4 clients, from 0 to 3"),
    ("superfed-mm", ["--client", "0", "--lam", "1.5"], "lam: must be from 0 to 1, not 1.5"),
    ("superfed-mm", ["--client", "0", "--lam", "nan"], "lam: must be from 0 to 1, not nan"),
    ("superfed-mm", ["--client", "0", "--lam", "worst"], "lam: must be best, own or a number from 0 to 1, not 'worst'"),
    ("superfed-mm", ["--client", "0", "--lam", "own"], "lam: SuPerFed-MM chooses no λ of its own; give best or a"),
    ("superfed-mm", ["--client", "0", "--format", "tf"], "format: must be safetensors, onnx or torchexport, not 'tf'"),
    ("superfed-mm", ["--client", "0", "-o", "model.h5"], "model.h5: the name of a model's file ends in .safetensors, "),
    (
        "superfed-mm",
        ["--client", "0", "--format", "onnx", "-o", "m.pt2"],
        "m.pt2: ends in .pt2, and the format onnx in .onnx",
    ),
    ("superfed-mm", ["--all", "-o", "all.onnx"], "all.onnx: is the name of a file; with --all give that of a folder"),
    ("superfed-mm", ["--global", "--lam", "0.5"], "lam: the global model has no λ; leave it out"),
    ("fedavg", ["--client", "0", "--lam", "0.5"], "lam: the models of FedAvg have no λ; leave it out"),
    ("fedper", ["--global"], "FedPer has no global model: its server holds a part of one, or none"),
    ("", ["--global"], "RUN: holds 5 runs; name one of them, for instance "),
    ("nothing", ["--global"], "RUN: there is no such folder"),
]


@pytest.mark.parametrize(("run", "arguments", "sentence"), MISTAKES, ids=lambda a: " ".join(a) if a else "none")
def test_one_sentence(
    superfed: Program, out: Path, tmp_path: Path, run: str, arguments: list[str], sentence: str
) -> None:
    folder = out / (f"{run}-seed0" if run else "")
    done = superfed("export", folder, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"superfed: {sentence.replace('RUN', str(folder))}"), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_results_is_finished_first(superfed: Program, tmp_path: Path) -> None:
    run = people(tmp_path, "fedavg") / "fedavg-seed0"
    write_json(run / "run.json", read_json(run / "run.json") | {"status": "running"})
    done = superfed("export", run, "--global", cwd=tmp_path)
    assert done.returncode == 2
    assert "has done 6 of 6 rounds and has no results yet; finish it first with: superfed resume" in done.stderr


@pytest.mark.parametrize("package", ["onnx", "onnxscript", "onnxruntime"])
def test_a_missing_package_is_named(
    superfed: Program, mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    done = superfed("export", mixed, "--client", 0, "-o", tmp_path / "model.onnx")
    assert done.returncode == 2
    assert done.stderr == f'superfed: onnx: needs the package {package}; run pip install "superfed[onnx]"\n'
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_a_sentence(superfed: Program, mixed: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = superfed("export", mixed, "--client", 0, "-o", tmp_path / "file" / "model.safetensors")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr


def test_networks_by_batch_come_with_a_warning(superfed: Program, tmp_path: Path) -> None:
    run_of(tmp_path / "run", "resnet", "fedavg")
    done = superfed("export", tmp_path / "run", "--global", "-o", tmp_path / "model.safetensors")
    assert done.returncode == 0
    assert "this network normalises by each batch's own statistics" in done.stderr


def test_nothing_is_pickled(superfed: Program, mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither written nor read: the ways to it are shut."""

    def shut(*_: Any, **__: Any) -> Any:
        raise AssertionError("something is pickled")

    import torch.onnx._internal.exporter._core

    for module, name in ((torch, "load"), (torch, "save"), (pickle, "load"), (pickle, "loads")):
        monkeypatch.setattr(module, name, shut)
    for ending in (".safetensors", ".onnx", ".pt2"):
        path = tmp_path / f"model{ending}"
        assert superfed("export", mixed, "--client", 0, "-o", path).returncode == 0
        assert np.isfinite(library.load_model(path, trust=True).scores(np.zeros((2, 5), "float32"))).all()
