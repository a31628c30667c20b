"""Where things lie: runs and experiments are found, and what is none of them is a sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from superfed.core.errors import UserError
from superfed.store.files import write_json
from superfed.store.layout import (
    SCHEMA,
    ExperimentFolder,
    RunFolder,
    as_yaml,
    find_experiment,
    find_runs,
    read_yaml,
)


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    folder = ExperimentFolder(tmp_path / "experiment")
    for name in ("b-seed0", "a-seed0"):
        folder.run(name).write_config({"name": name, "training": {"lr": 1e-05}, "description": "μ = 0,1"})
        folder.run(name).write_info({"name": name, "status": "running"})
    folder.write_info({"name": "trial", "runs": ["b-seed0", "a-seed0"]}, {"seed": [0]})
    return folder.path


def test_an_experiment_holds_its_runs_in_order(experiment: Path) -> None:
    runs = find_runs(experiment)
    assert [run.name for run in runs] == ["b-seed0", "a-seed0"]
    assert [run.path for run in runs] == [experiment / "b-seed0", experiment / "a-seed0"]
    folder, names = find_experiment(experiment)
    assert (folder.path, names) == (experiment, ["b-seed0", "a-seed0"])
    info = folder.info()
    assert (info["schema"], info["name"], info["runs"]) == (SCHEMA, "trial", ["b-seed0", "a-seed0"])
    assert read_yaml(experiment / "config.yaml") == {"seed": [0]}


def test_a_runs_folder_is_that_run_alone(experiment: Path) -> None:
    (run,) = find_runs(experiment / "a-seed0")
    assert (run.name, run.path) == ("a-seed0", experiment / "a-seed0")
    folder, names = find_experiment(experiment / "a-seed0")
    assert (folder.path, names) == (experiment, ["a-seed0"])


def test_the_folder_one_stands_in_has_a_name_too(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(experiment / "a-seed0")
    assert [run.name for run in find_runs(Path("."))] == ["a-seed0"]
    folder, names = find_experiment(Path("."))
    assert folder.info()["name"] == "trial"
    assert names == ["a-seed0"]
    assert [run.name for run in find_runs(Path(".."))] == ["b-seed0", "a-seed0"]


def test_what_is_written_of_a_run_can_be_read(experiment: Path) -> None:
    run = RunFolder(experiment / "a-seed0")
    assert run.info() == {"schema": SCHEMA, "name": "a-seed0", "status": "running"}
    assert run.config() == {"name": "a-seed0", "training": {"lr": 1e-05}, "description": "μ = 0,1"}
    run.write_info(run.info() | {"status": "finished"})
    assert run.info()["status"] == "finished"


def test_results_are_none_while_there_are_none(experiment: Path) -> None:
    run = RunFolder(experiment / "a-seed0")
    assert run.summary() is None
    write_json(run.summary_file, {"headline": "validated"})
    assert run.summary() == {"headline": "validated"}


def test_a_new_experiment_needs_a_place_of_its_own(tmp_path: Path, experiment: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "leftover").mkdir()
    (tmp_path / "leftover" / ".experiment.json.x1.part").write_text("")
    (tmp_path / "file").write_text("")
    free = {name: ExperimentFolder(tmp_path / name).is_free() for name in ("new", "empty", "leftover", "file")}
    assert free == {"new": True, "empty": True, "leftover": True, "file": False}
    assert not ExperimentFolder(experiment).is_free()


def test_neither_a_run_nor_an_experiment_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for name in ("empty", "file"):
        with pytest.raises(UserError) as caught:
            find_runs(tmp_path / name)
        assert str(caught.value) == (
            f"{tmp_path / name}: is no run and no experiment (it holds neither run.json nor experiment.json)"
        )
    with pytest.raises(UserError) as caught:
        find_runs(tmp_path / "missing")
    assert str(caught.value) == f"{tmp_path / 'missing'}: there is no such folder"


def test_a_run_without_its_experiment_is_a_sentence(tmp_path: Path) -> None:
    RunFolder(tmp_path / "alone").write_info({})
    folder, names = find_experiment(tmp_path / "alone")
    assert names == ["alone"]
    with pytest.raises(UserError) as caught:
        folder.info()
    assert str(caught.value) == f"{tmp_path / 'experiment.json'}: there is no such file"


@pytest.mark.parametrize(("info", "found"), [({"schema": 2}, "2"), ({"schema": "1"}, "1"), ({}, "None")])
def test_another_schema_is_a_sentence(experiment: Path, info: dict[str, object], found: str) -> None:
    path = experiment / "a-seed0" / "run.json"
    write_json(path, info)
    with pytest.raises(UserError) as caught:
        RunFolder(path.parent).info()
    assert str(caught.value) == f"{path}: has schema {found}, and this program reads schema {SCHEMA}"


@pytest.mark.parametrize("content", ["[]", "3", "null", '"text"'])
def test_a_file_that_holds_something_else_is_a_sentence(experiment: Path, content: str) -> None:
    path = experiment / "experiment.json"
    path.write_text(content)
    with pytest.raises(UserError) as caught:
        find_runs(experiment)
    assert str(caught.value) == f"{path}: cannot be read (it holds no mapping)"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a: [1,\n", "cannot be read as YAML ("),
        (b"a: \xff\n", "cannot be read as YAML ("),
        (b"", "holds no settings"),
        (b"- 1\n", "holds no settings"),
    ],
)
def test_a_damaged_config_is_a_sentence(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        read_yaml(path)
    assert str(caught.value).startswith(f"{path}: {problem}")


def test_a_missing_config_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        RunFolder(tmp_path).config()
    assert str(caught.value) == f"{tmp_path / 'config.yaml'}: there is no such file"


def test_settings_keep_their_order_on_disk() -> None:
    assert as_yaml({"b": 1, "a": {"μ": 0.1}}) == "b: 1\na:\n  μ: 0.1\n"


READ_WITHOUT_TORCH = """
import sys
from pathlib import Path
from superfed.store.layout import find_runs
from superfed.store.tables import read_table
(run,) = find_runs(Path(sys.argv[1]))
assert run.config()["description"] == "\\u03bc = 0,1", ascii(run.config())
assert run.info()["title"] == "\\u03bc", ascii(run.info())
print("torch" in sys.modules)
"""


def test_reading_needs_no_torch_and_no_particular_locale(experiment: Path) -> None:
    RunFolder(experiment / "a-seed0").write_info({"title": "μ", "status": "running"})
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", READ_WITHOUT_TORCH, str(experiment / "a-seed0")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "False"), done.stderr
