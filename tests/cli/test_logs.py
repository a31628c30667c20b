"""What is said on standard error: nothing unless asked, then for people or for programs."""

import json
import re
from pathlib import Path

import pytest

from conftest import Program

CONFIG = """
algorithm: fedavg
data: {dataset: {name: synthetic, dim: 6, num_classes: 3, samples_per_client: 12}, num_clients: 6}
model: {name: two_nn, width: 4}
training: {rounds: 2, clients_per_round: 2, local_epochs: 1, lr: 0.05}
evaluation: {every: 1, clients: 2}
engine: {workers: 1, checkpoint_every: 1}
"""
EVENTS = ["data", "run", "evaluation", "round", "evaluation", "checkpoint", "round", "evaluation", "checkpoint"]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(CONFIG)
    return path


def test_quiet_by_default(superfed: Program, tiny: Path, tmp_path: Path) -> None:
    assert superfed("run", tiny, "--out", tmp_path / "out").stderr == ""


def test_for_people(superfed: Program, tiny: Path, tmp_path: Path) -> None:
    told = superfed("-v", "run", tiny, "--out", tmp_path / "out").stderr.splitlines()
    assert len(told) == len(EVENTS) + 2
    assert all(re.match(r"\d\d:\d\d:\d\d \S", line) for line in told)
    assert "fedavg-seed0: round 1 of 2, 2 clients, " in told[3]
    assert told[5].endswith("fedavg-seed0: checkpoint after 1 rounds")


def test_for_programs(superfed: Program, tiny: Path, tmp_path: Path) -> None:
    done = superfed("--log-json", "run", tiny, "--out", tmp_path / "out")
    told = [json.loads(line) for line in done.stderr.splitlines()]
    assert [one["event"] for one in told] == [*EVENTS, "final_evaluation", "done"]
    assert all({"time", "level", "event", "message"} <= one.keys() for one in told)
    first = next(one for one in told if one["event"] == "round")
    assert (first["run"], first["round"], first["rounds"], first["clients"]) == ("fedavg-seed0", 1, 2, 2)
    assert "FedAvg" in done.stdout, "the table is where it was"


def test_complaints_are_for_programs_too(superfed: Program, tiny: Path, tmp_path: Path) -> None:
    mistake = superfed("--log-json", "run", tiny, "training.lr=0", "--out", tmp_path / "out")
    assert mistake.returncode == 2
    (told,) = map(json.loads, mistake.stderr.splitlines())
    assert (told["level"], told["message"]) == ("error", "training.lr: must be more than 0, not 0.0")
    diverged = superfed("--log-json", "run", tiny, "training.lr=1e38", "--out", tmp_path / "diverged")
    assert diverged.returncode == 1
    last = json.loads(diverged.stderr.splitlines()[-1])
    assert "stopped: every client's update in round" in last["message"]


def test_a_failure_is_an_event(superfed: Program, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from superfed.engine.task import Task

    def raising(task: Task, round: int) -> object:
        raise ValueError("the moon is full")

    monkeypatch.setattr(Task, "round_values", raising)
    done = superfed("--log-json", "run", tiny, "--out", tmp_path / "out")
    told = [json.loads(line) for line in done.stderr.splitlines()]
    (failure,) = [one for one in told if one["event"] == "failure"]
    assert (failure["run"], failure["reason"]) == ("fedavg-seed0", "ValueError: the moon is full")


def test_a_tracker_that_is_missing_is_one_line(
    superfed: Program, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "wandb.py").write_text("raise ModuleNotFoundError(name='wandb')")
    monkeypatch.syspath_prepend(tmp_path / "lib")
    done = superfed("run", tiny, "--track", "wandb", "--out", tmp_path / "out")
    assert done.returncode == 0
    install = 'pip install "superfed[wandb]"'
    assert done.stderr == (f"superfed: tracking.wandb: it is not installed; {install}; the runs go on without it\n")
