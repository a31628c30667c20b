"""A user's mistake gets one sentence on standard error and exit code 2; nothing is lost, nothing half-made is left."""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Program
from superfed.cli.interrupt import Heeding, Stop
from superfed.experiments.observer import Silent

MISTAKES = [
    (["run", "nothing"], "nothing: is no file, and no shipped config; those are"),
    (["run", "nothing.yaml"], "nothing.yaml: there is no such file"),
    (["run", "demo", "algorithm.nu=1"], "algorithm.nu: 'algorithm' is a list of 4 here; give it whole, algorithm=…"),
    (["run", "demo", "training.round=1"], "training.round: unknown; did you mean 'rounds'?"),
    (["run", "demo", "training.batch_size=0"], "training.batch_size: must be 1 or more, not 0"),
    (["run", "demo", "data.num_clients=5000"], "data.num_clients: "),
    (
        ["run", "demo", "algorithm={name: superfed, start: 41}"],
        "algorithm.start: round 41 is beyond the last of 40 rounds",
    ),
    (["run", "demo", "algorithm=fedavgg"], "algorithm.name: 'fedavgg' is unknown; did you mean 'fedavg'?"),
    (["run", "demo", "model.head=nose"], "model.head: the model has no layer 'nose'; its layers are features.1, "),
    (["run", "demo", "engine.device=cuda:9"], "engine.device: "),
    (["run", "demo", "rounds"], "'rounds': a change is written key=value"),
    (["run", "mnist"], "mnist"),
    (["resume", "nowhere"], "nowhere: there is no such folder"),
    (["compare", "."], ".: is no run and no experiment"),
    (["evaluate", "nowhere"], "nowhere: there is no such folder"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES, ids=lambda a: " ".join(a) if isinstance(a, list) else "")
def test_one_sentence(
    superfed: Program, arguments: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUPERFED_DATA", raising=False)
    done = superfed(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"superfed: {sentence}"), done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_it_is_not_written_over(superfed: Program, config: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    done = superfed("run", config, "--out", tmp_path)
    assert done.returncode == 2
    assert "is there already and not empty; choose another --out, or go on with: superfed resume" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_data_that_changed_is_noticed(superfed: Program, experiment: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(experiment, copy)
    path = copy / "fedavg-seed0" / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"fingerprint": "0" * 64}))
    done = superfed("resume", copy)
    assert done.returncode == 2
    assert "the data is not what this run began with (its fingerprint differs)" in done.stderr


def test_an_unfinished_run_is_not_evaluated(superfed: Program, experiment: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(experiment, copy)
    shutil.rmtree(copy / "fedavg-seed0" / "checkpoints")
    done = superfed("evaluate", copy)
    assert done.returncode == 2
    assert "fedavg-seed0: has its results and no models any more" in done.stderr
    path = copy / "fedavg-seed0" / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"status": "running"}))
    done = superfed("evaluate", copy)
    assert done.returncode == 2
    assert "has done 0 of 3 rounds; finish it first with: superfed resume" in done.stderr


def test_a_run_without_models_is_not_evaluated_and_stays_as_it_is(
    superfed: Program, config: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    small = ("algorithm=fedavg", "seed=0", "engine.keep_models=false")
    assert superfed("run", config, *small, "--out", out).returncode == 0
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.name != ".lock" and path != out}
    done = superfed("evaluate", out)
    assert done.returncode == 2
    assert done.stderr == (
        f"superfed: {out}/fedavg-seed0: has its results and no models any more (engine.keep_models: false, or its "
        "checkpoints were removed)\n"
    )
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.name != ".lock" and path != out} == before


def test_divergence_is_told_and_the_exit_code_is_true(superfed: Program, config: Path, tmp_path: Path) -> None:
    done = superfed("run", config, "training.lr=1e38", "algorithm=fedavg", "seed=0", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "stopped: every client's update in round 0 was not finite; try a smaller lr (it was 1e+38)" in done.stderr
    assert json.loads((tmp_path / "out" / "fedavg-seed0" / "run.json").read_text())["status"] == "stopped"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_how_to_go_on(superfed: Program, config: Path, tmp_path: Path, number: int) -> None:
    out = tmp_path / "out"
    words = ["run", str(config), "training.rounds=2000", "engine.workers=2", "--out", str(out)]
    command = [sys.executable, "-m", "superfed.cli.main", *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for _ in range(600):
        if any(out.glob("*/checkpoints/round-*.json")):
            break
        time.sleep(0.1)
    process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1] == f"superfed: stopped; go on with: superfed resume {out}"
    assert "Traceback" not in errors


def test_a_wish_to_stop_that_got_lost_is_remembered() -> None:
    """Compiled code may swallow the exception of a signal; the next client's end heeds it all the same."""
    stop = Stop()
    observer = Heeding(Silent(), stop)
    observer.lane_done(0)
    with contextlib.suppress(KeyboardInterrupt):
        stop.ask(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        observer.lane_done(0)
    with pytest.raises(KeyboardInterrupt):
        observer.client_evaluated()
