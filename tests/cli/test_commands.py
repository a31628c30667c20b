"""Every command, as a user calls it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest
import yaml

from conftest import Program

READINGS = {"validated", "validated_shared", "best_shared", "oracle", "fixed"}


def test_run_prints_a_table_and_says_where_things_are(superfed: Program, config: Path, tmp_path: Path) -> None:
    done = superfed("run", config, "seed=0", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "SuPerFed-MM" in done.stdout
    assert "FedAvg" in done.stdout
    assert f"runs: {tmp_path / 'out'}" in done.stdout
    assert f"page: {tmp_path / 'out' / 'report.html'}" in done.stdout
    assert (tmp_path / "out" / "report.html").read_text().lower().startswith("<!doctype html>")
    assert sorted(p.name for p in (tmp_path / "out").iterdir() if p.is_dir()) == ["fedavg-seed0", "superfed-mm-seed0"]


def test_runs_go_to_a_folder_named_for_the_config_and_the_time(superfed: Program, config: Path, tmp_path: Path) -> None:
    done = superfed("run", config, "seed=0", "algorithm=fedavg", "training.rounds=1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (out,) = (tmp_path / "runs").iterdir()
    assert out.name.startswith("small-")


def test_a_runs_folder_holds_what_it_should(experiment: Path) -> None:
    run = experiment / "superfed-mm-seed1"
    info = json.loads((run / "run.json").read_text())
    assert info["schema"] == 1
    assert info["status"] == "finished"
    assert len(info["fingerprint"]) == 64
    assert {"python", "torch", "numpy", "superfed"} <= info["versions"].keys()
    assert yaml.safe_load((run / "config.yaml").read_text())["algorithm"] == {
        "name": "superfed",
        "mu": 0.01,
        "nu": 1.0,
        "mixing": "model",
        "start": 0.4,
    }
    rounds = pyarrow.parquet.read_table(run / "rounds.parquet").to_pydict()
    assert rounds["round"] == [0, 1, 2]
    parameters = info["parameters"]
    assert rounds["bytes_up"] == rounds["bytes_down"] == [3 * 4 * parameters] * 3
    clients = pyarrow.parquet.read_table(run / "clients.parquet").to_pydict()
    assert len(clients["client"]) == 10 * 11 * 2
    readings = pyarrow.parquet.read_table(run / "readings.parquet").to_pydict()
    assert set(readings["reading"]) == READINGS
    summary = json.loads((run / "summary.json").read_text())
    assert summary["readings"].keys() == READINGS
    best = max(point["top1"]["mean"] for point in summary["by_lambda"])
    assert summary["readings"]["best_shared"]["top1"]["mean"] == best


def test_compare_as_a_table_and_as_json(superfed: Program, experiment: Path, tmp_path: Path) -> None:
    assert "SuPerFed-MM" in superfed("compare", experiment).stdout
    done = superfed("compare", experiment, "--json", "--page", tmp_path / "page.html")
    rows = json.loads(done.stdout)["rows"]
    assert {row["title"] for row in rows} == {"FedAvg", "SuPerFed-MM"}
    assert all(len(row["seeds"]) == 2 for row in rows)
    assert (tmp_path / "page.html").exists()


def test_compare_takes_single_runs_and_counts_none_twice(superfed: Program, experiment: Path) -> None:
    one = experiment / "fedavg-seed0"
    rows = json.loads(superfed("compare", one, one, experiment / "fedavg-seed1", "--json").stdout)["rows"]
    assert [row["seeds"] for row in rows] == [[0, 1]]


def test_evaluate_gives_the_same_numbers_again(superfed: Program, experiment: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(experiment, copy)
    names = ["clients.parquet", "readings.parquet", "summary.json"]
    before = {(run.name, name): (run / name).read_bytes() for run in copy.iterdir() if run.is_dir() for name in names}
    for run, name in before:
        (copy / run / name).unlink()
    done = superfed("evaluate", copy)
    assert done.returncode == 0, done.stderr
    assert {(run, name): (copy / run / name).read_bytes() for run, name in before} == before


def test_evaluate_on_a_finer_line(superfed: Program, experiment: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(experiment, copy)
    assert superfed("evaluate", copy / "superfed-mm-seed0", "--lambdas", 21).returncode == 0
    summary = json.loads((copy / "superfed-mm-seed0" / "summary.json").read_text())
    assert len(summary["by_lambda"]) == 21


def test_resuming_a_finished_experiment_changes_nothing(superfed: Program, experiment: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(experiment, copy)
    done = superfed("resume", copy)
    assert done.returncode == 0, done.stderr
    for path in experiment.rglob("*.parquet"):
        assert (copy / path.relative_to(experiment)).read_bytes() == path.read_bytes()


def test_show_fills_in_every_default(superfed: Program, config: Path) -> None:
    done = superfed("show", config, "seed=0", "algorithm=superfed")
    settings = yaml.safe_load(done.stdout)
    assert settings["training"]["momentum"] == 0.9
    assert settings["algorithm"]["nu"] == 1.0
    runs = json.loads(superfed("show", "demo", "--json").stdout)
    assert len(runs) == 12


def test_show_names_the_runs_of_a_grid(superfed: Program) -> None:
    shown = superfed("show", "demo").stdout
    assert "# 12 runs; all of them have" in shown
    assert "superfed-lm-seed2: {" in shown


@pytest.mark.parametrize("kind", ["algorithms", "datasets", "models", "partitions", "experiments"])
def test_list(superfed: Program, kind: str) -> None:
    entries = json.loads(superfed("list", kind, "--json").stdout)
    text = superfed("list", kind).stdout
    assert entries
    for name, entry in entries.items():
        assert entry["summary"]
        assert name in text


def test_help_and_version(superfed: Program) -> None:
    for words in ([], ["run"], ["resume"], ["evaluate"], ["compare"], ["show"], ["list"]):
        done = superfed(*words, "--help")
        assert done.returncode == 0
        assert "Usage" in done.stdout
    assert superfed("--version").stdout.startswith("superfed 0.")


def test_the_installed_program_starts_without_torch() -> None:
    """Help and completion must not wait for it."""
    program = "import sys; import superfed.cli.main; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    script = Path(sys.executable).with_name("superfed")
    assert subprocess.run([script, "--version"], capture_output=True, check=False).returncode == 0
