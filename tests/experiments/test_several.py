"""Several experiments as one job: they come out as each would by itself, and are gone on with where they were."""

from pathlib import Path
from typing import Any

import pytest

from superfed.core.errors import UserError
from superfed.engine.task import Task
from superfed.experiments.failures import RunsFailed
from superfed.experiments.runner import start
from superfed.experiments.several import has_results, run_several
from superfed.store.layout import ExperimentFolder

AGAIN = "superfed reproduce table1"


def settings(method: str, seed: int | list[int] = 0, rounds: int = 2) -> dict[str, Any]:
    return {
        "seed": seed,
        "algorithm": {"name": method},
        "data": {"dataset": {"name": "synthetic", "dim": 4, "num_classes": 3}, "num_clients": 6},
        "model": {"name": "two_nn", "width": 4},
        "training": {"rounds": rounds, "clients_per_round": 2, "local_epochs": 1},
        "evaluation": {"every": 1, "clients": 2},
        "engine": {"device": "cpu", "workers": 1},
    }


WANTED = {"one": settings("superfed", [0, 1]), "other": settings("fedavg", rounds=3)}


def summaries(path: Path) -> dict[str, Any]:
    return {run.name: run.summary() for run in ExperimentFolder(path).runs()}


def test_each_is_as_it_is_by_itself(tmp_path: Path) -> None:
    run_several(WANTED, tmp_path / "together", AGAIN)
    for name, config in WANTED.items():
        start(config, tmp_path / name)
        assert summaries(tmp_path / "together" / name) == summaries(tmp_path / name)
        assert has_results(ExperimentFolder(tmp_path / "together" / name))


def test_what_is_there_is_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_several({"one": WANTED["one"]}, tmp_path, AGAIN)
    trained: list[Task] = []
    original = Task.cohort

    def noted(task: Task, round: int) -> list[int]:
        trained.append(task)
        return original(task, round)

    monkeypatch.setattr(Task, "cohort", noted)
    run_several(WANTED, tmp_path, AGAIN)
    assert {type(task.algorithm).__name__ for task in trained} == {"FedAvg"}
    trained.clear()
    run_several(WANTED, tmp_path, AGAIN)
    assert not trained


def test_one_that_fails_leaves_the_others_and_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_several(WANTED, tmp_path / "whole", AGAIN)
    original = Task.round_values

    def broken(task: Task, round: int) -> Any:
        if task.seed == 1 and round == 1:
            raise ValueError("this run breaks")
        return original(task, round)

    with monkeypatch.context() as patch:
        patch.setattr(Task, "round_values", broken)
        with pytest.raises(RunsFailed) as raised:
            run_several(WANTED, tmp_path / "broken", AGAIN)
    assert str(raised.value).startswith("1 of 3 runs failed: one/superfed-mm-seed1 (")
    assert str(raised.value).endswith(f"; when the cause is gone, go on with: {AGAIN}")
    assert has_results(ExperimentFolder(tmp_path / "broken" / "other"))
    run_several(WANTED, tmp_path / "broken", AGAIN)
    for name in WANTED:
        assert summaries(tmp_path / "broken" / name) == summaries(tmp_path / "whole" / name)


def test_other_settings_under_a_name_are_refused_and_nothing_is_begun(tmp_path: Path) -> None:
    run_several({"one": WANTED["one"]}, tmp_path, AGAIN)
    with pytest.raises(UserError, match=r"one: holds an experiment with other settings; choose another --out"):
        run_several({"new": WANTED["other"], "one": WANTED["other"]}, tmp_path, AGAIN)
    assert not (tmp_path / "new").exists()


def test_every_complaint_comes_before_the_first_file(tmp_path: Path) -> None:
    wrong = settings("fedavg") | {"training": {"rounds": 1, "clients_per_round": 50}}
    with pytest.raises(UserError, match="50 clients a round are more than the 6 there are"):
        run_several({"good": WANTED["one"], "bad": wrong}, tmp_path / "out", AGAIN)
    assert not (tmp_path / "out").exists()
