"""Where models are not kept, a finished run is its results, and whoever asks for more is told so."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import superfed
from superfed.core.errors import UserError
from superfed.engine.task import Task
from superfed.experiments.assemble import Assembler
from superfed.experiments.member import Member
from superfed.experiments.observer import Silent
from superfed.experiments.onboard import onboard
from superfed.experiments.places import local_executor
from superfed.experiments.runner import held, reevaluate, resume, start
from superfed.experiments.together import Together
from superfed.store.layout import find_experiment, find_runs
from superfed.store.tables import read_table

CONFIG: dict[str, Any] = {
    "algorithm": ["superfed", "apfl"],
    "data": {"dataset": "digits", "num_clients": 6, "partition": "iid", "newcomers": 0.2},
    "model": {"name": "two_nn", "width": 4},
    "training": {"rounds": 4, "clients_per_round": 2, "local_epochs": 1, "lr": 0.05},
    "evaluation": {"every": 2, "clients": 2, "lambdas": 3, "newcomer_epochs": 1},
}
NO_MODELS = "has its results and no models any more"


def made(folder: Path, **engine: Any) -> Path:
    return start(CONFIG | {"engine": {"workers": 1} | engine}, folder)


@pytest.fixture(scope="module")
def lean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("lean") / "out", keep_models=False, checkpoint_every=1)


def test_results_are_those_of_runs_that_keep_them(lean: Path, tmp_path: Path) -> None:
    for own, other in zip(find_runs(lean), find_runs(made(tmp_path / "out")), strict=True):
        assert not own.checkpoints.exists()
        assert other.checkpoints.exists()
        assert own.summary() == other.summary()
        for table in ("rounds", "curve", "clients", "readings", "bins", "holdings", "newcomers"):
            assert read_table(getattr(own, table)) == read_table(getattr(other, table)), table


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may train."""

    def never(task: Task, round: int) -> list[int]:
        raise AssertionError(round)

    monkeypatch.setattr(Task, "cohort", never)


@pytest.mark.usefixtures("untrained")
def test_finished_runs_are_not_trained_again(lean: Path) -> None:
    resume(lean)


@pytest.mark.usefixtures("untrained")
def test_nor_where_someone_has_taken_them_up_already(lean: Path) -> None:
    """As a task elsewhere does that is given out again, since nobody heard that it was done."""
    folder, names = find_experiment(lean)
    with held(folder, names, Assembler(None)) as orders:
        members = [Member(order) for order in orders]
        before = [read_table(member.folder.rounds) for member in members]
        with closing(local_executor(members, Silent())) as executor:
            together = Together(members, executor, Silent())
            together.train()
        assert not together.failed
        assert [read_table(member.folder.rounds) for member in members] == before
        assert not any(member.folder.checkpoints.exists() for member in members)


def test_an_interrupted_evaluation_loses_no_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Together, member: Member, points: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Together, "_evaluate", interrupted)
        with pytest.raises(KeyboardInterrupt):
            made(tmp_path / "out", keep_models=False, checkpoint_every=100)
    with monkeypatch.context() as patch:
        patch.setattr(Task, "cohort", lambda task, round: pytest.fail(f"round {round} again"))
        resume(tmp_path / "out")
    assert all(run.has_results() and not run.checkpoints.exists() for run in find_runs(tmp_path / "out"))


def test_models_that_someone_left_behind_are_removed(lean: Path) -> None:
    """Killed between the last two things that a run does."""
    run, *_ = find_runs(lean)
    (run.checkpoints / "clients").mkdir(parents=True, exist_ok=True)
    resume(lean)
    assert not run.checkpoints.exists()


def test_who_needs_models_is_told(lean: Path) -> None:
    run = lean / "apfl-seed0"
    for ask in (lambda: superfed.load(run), lambda: reevaluate(run), lambda: onboard(run, lean, 0)):
        with pytest.raises(UserError, match=f"{run}: {NO_MODELS}"):
            ask()
        assert not (run / "checkpoints").exists()
