"""One run's failure is its own: the others end as if it had never been there, and it can be taken up again."""

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from superfed.algorithms import SuPerFed
from superfed.core.errors import UserError
from superfed.engine import tensors
from superfed.engine.executors import Batched, OneAtATime
from superfed.engine.lanes import Lane
from superfed.engine.task import Task
from superfed.experiments import places
from superfed.experiments.failures import RunsFailed
from superfed.experiments.member import Member
from superfed.experiments.observer import Silent
from superfed.experiments.runner import resume, start
from superfed.store import files
from superfed.store.layout import ExperimentFolder

SETTINGS: dict[str, Any] = {
    "algorithm": {"name": "superfed", "nu": [0.0, 1.0, 2.0], "start": 0},
    "data": {"dataset": {"name": "synthetic", "dim": 6, "num_classes": 3, "samples_per_client": 12}, "num_clients": 8},
    "model": {"name": "two_nn", "width": 4},
    "training": {"rounds": 6, "clients_per_round": 3, "local_epochs": 1, "lr": 0.05},
    "evaluation": {"every": 2, "clients": 2, "lambdas": 2},
}
GUILTY, NAME = 1.0, "superfed-mm-nu1.0-seed0"


def settings(workers: int = 1, **changes: Any) -> dict[str, Any]:
    return SETTINGS | {"engine": {"workers": workers, "checkpoint_every": 2, "state": "disk"}} | changes


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of the experiment's runs but those that tell of time and of the number of workers."""
    aside = ("timing.json", "config.yaml")
    files = (p for p in sorted(folder.glob("*/**/*")) if p.is_file() and p.name not in aside)
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def of_others(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if not name.startswith(NAME)}


@pytest.fixture(scope="module")
def peace(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the three runs leave when nothing fails."""
    out = tmp_path_factory.mktemp("peace") / "out"
    start(settings(), out)
    return contents(out)


class Watching(Silent):
    """Notes who is told to have failed, and who to be done."""

    def __init__(self) -> None:
        self.failed: list[tuple[int, str]] = []
        self.done: list[int] = []

    def run_failed(self, run: int, reason: str) -> None:
        self.failed.append((run, reason))

    def run_done(self, run: int) -> None:
        self.done.append(run)


def check(out: Path, peace: dict[str, bytes], reason: str, workers: int = 1) -> None:
    """With the cause in place the guilty run fails alone; with the cause gone it ends as if nothing had been."""
    watching = Watching()
    with pytest.raises(RunsFailed) as raised:
        start(settings(workers), out, observer=watching)
    assert watching.failed == [(1, reason)]
    assert watching.done == [0, 2]
    assert str(raised.value) == (
        f"1 of 3 runs failed: {NAME} ({reason}); when the cause is gone, go on with: superfed resume {out}"
    )
    info = ExperimentFolder(out).run(NAME).info()
    assert (info["status"], info["reason"]) == ("failed", reason)
    assert "Traceback" in (out / NAME / "failure.txt").read_text()
    assert of_others(contents(out)) == of_others(peace)


def check_resumed(out: Path, peace: dict[str, bytes]) -> None:
    resume(out)
    assert contents(out) == peace


def in_round(nu: float, round: int, message: str) -> Any:
    """Something that raises for one run from some round on."""

    def guard(task: Task, now: int) -> None:
        if isinstance(task.algorithm, SuPerFed) and task.algorithm.nu == nu and now >= round:
            raise ValueError(message)

    return guard


@pytest.mark.parametrize("workers", [1, 2])
def test_an_update_that_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peace: dict[str, bytes], workers: int
) -> None:
    """The executor does not say whose it was: all that were left are tried alone."""
    guard, values = in_round(GUILTY, 3, "this method breaks"), Task.round_values
    with monkeypatch.context() as patch:
        patch.setattr(Task, "round_values", lambda task, round: guard(task, round) or values(task, round))
        check(tmp_path / "out", peace, "ValueError: this method breaks", workers)
    (last,) = json.loads((tmp_path / "out" / NAME / "checkpoints" / "round-000002.json").read_text())["manifest"][
        "record"
    ]["records"][-1:]
    assert last["round"] == 1
    check_resumed(tmp_path / "out", peace)


def test_in_a_stack_of_lanes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all runs' lanes are one program, as on a GPU, the others' numbers are the same but for rounding."""
    monkeypatch.setattr(places, "make_executor", lambda *_, **__: Batched(torch.device("cpu")))
    precise = settings(engine={"dtype": "float64"})
    start(precise, tmp_path / "whole")
    guard, values = in_round(GUILTY, 3, "this method breaks"), Task.round_values
    with monkeypatch.context() as patch:
        patch.setattr(Task, "round_values", lambda task, round: guard(task, round) or values(task, round))
        with pytest.raises(RunsFailed, match=f"1 of 3 runs failed: {NAME} "):
            start(precise, tmp_path / "out")
    resume(tmp_path / "out")
    for path in tmp_path.glob("whole/*/checkpoints/server.*"):
        state = tensors.read_state(tmp_path / "out" / path.relative_to(tmp_path / "whole"))
        torch.testing.assert_close(state, tensors.read_state(path), rtol=0, atol=1e-12)


def test_a_cohort_or_an_aggregation_that_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peace: dict[str, bytes]
) -> None:
    guard, cohort = in_round(GUILTY, 3, "nobody is there"), Task.cohort
    with monkeypatch.context() as patch:
        patch.setattr(Task, "cohort", lambda task, round: guard(task, round) or cohort(task, round))
        check(tmp_path / "cohort", peace, "ValueError: nobody is there")
    check_resumed(tmp_path / "cohort", peace)

    aggregate = Task.aggregate

    def raising(task: Task, *arguments: Any) -> Any:
        guard(task, 3)
        return aggregate(task, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Task, "aggregate", raising)
        check(tmp_path / "aggregate", peace, "ValueError: nobody is there")
    check_resumed(tmp_path / "aggregate", peace)


def test_a_folder_that_takes_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peace: dict[str, bytes]
) -> None:
    write = files.write_bytes

    def refusing(path: Path, data: bytes, **how: bool) -> None:
        if NAME in str(path) and "server.round-000004" in path.name:
            raise UserError("the folder takes no files") from PermissionError(errno.EACCES, "Permission denied")
        write(path, data, **how)

    with monkeypatch.context() as patch:
        patch.setattr(tensors, "write_bytes", refusing)
        check(tmp_path / "out", peace, "the folder takes no files")
    check_resumed(tmp_path / "out", peace)


def test_a_folder_that_takes_nothing_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peace: dict[str, bytes]
) -> None:
    """Not even that it failed can be written: it looks unfinished, and is told all the same."""
    move = os.replace

    def refusing(source: str, target: Path) -> None:
        if f"{NAME}/rounds.parquet" in str(target) or moved:
            moved.append(target)
        if moved and NAME in str(target):
            raise PermissionError(errno.EACCES, "Permission denied")
        move(source, target)

    moved: list[Path] = []
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refusing)
        with pytest.raises(RunsFailed, match=r"cannot be written \(Permission denied\)"):
            start(settings(), tmp_path / "out")
    assert ExperimentFolder(tmp_path / "out").run(NAME).info()["status"] == "running"
    assert of_others(contents(tmp_path / "out")) == of_others(peace)
    check_resumed(tmp_path / "out", peace)


@pytest.mark.parametrize("rounds", ["0", "2", "6"])
def test_an_evaluation_that_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peace: dict[str, bytes], rounds: str
) -> None:
    evaluate = OneAtATime.evaluate

    def raising(self: OneAtATime, lanes: list[Lane], *rest: Any) -> Iterator[Any]:
        for lane in lanes:
            if lane.task.algorithm.lane_values()["nu"] == GUILTY and lane.round == int(rounds):
                raise ArithmeticError("cannot be scored")
        yield from evaluate(self, lanes, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(OneAtATime, "evaluate", raising)
        check(tmp_path / "out", peace, "ArithmeticError: cannot be scored")
    check_resumed(tmp_path / "out", peace)


def test_results_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peace: dict[str, bytes]
) -> None:
    save = Member.save_results

    def raising(member: Member, *arguments: Any) -> None:
        if member.folder.name == NAME:
            raise UserError("the folder takes no results")
        save(member, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Member, "save_results", raising)
        check(tmp_path / "out", peace, "the folder takes no results")
    check_resumed(tmp_path / "out", peace)


def test_together_fails_and_alone_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peace: dict[str, bytes]
) -> None:
    """As where memory does not hold all runs at once: nobody is to blame, and nobody fails."""
    update = OneAtATime.update

    def narrow(self: OneAtATime, lanes: list[Lane]) -> Iterator[Any]:
        if len(lanes) > 3:
            raise MemoryError("too many lanes")
        return update(self, lanes)

    with monkeypatch.context() as patch:
        patch.setattr(OneAtATime, "update", narrow)
        with pytest.warns(UserWarning, match=r"3 runs could not be computed together, only one by one \(MemoryError: "):
            start(settings(), tmp_path / "out")
    assert contents(tmp_path / "out") == peace


def test_a_full_disk_ends_all_and_marks_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peace: dict[str, bytes]
) -> None:
    move = os.replace

    def full(source: str, target: Path) -> None:
        if "server.round-000004" in str(target):
            raise OSError(errno.ENOSPC, "No space left on device")
        move(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(UserError, match="No space left on device") as raised:
            start(settings(), tmp_path / "out")
    assert not isinstance(raised.value, RunsFailed)
    assert {run.info()["status"] for run in ExperimentFolder(tmp_path / "out").runs()} == {"running"}
    check_resumed(tmp_path / "out", peace)


def test_all_failing_for_one_reason_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(task: Task, round: int) -> None:
        raise ValueError("nothing\nworks")

    many = settings(algorithm={"name": "superfed", "nu": [0.0, 1.0, 2.0, 3.0, 4.0]})
    with monkeypatch.context() as patch:
        patch.setattr(Task, "round_values", raising)
        with pytest.raises(RunsFailed) as raised:
            start(many, tmp_path / "out")
    names = "superfed-mm-nu0.0-seed0, superfed-mm-nu1.0-seed0, superfed-mm-nu2.0-seed0 and 2 more"
    assert str(raised.value).startswith(f"5 of 5 runs failed: {names} (ValueError: nothing works); when the cause")
    assert isinstance(raised.value.__cause__, Exception)
