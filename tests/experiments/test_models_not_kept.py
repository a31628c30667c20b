"""Where models are not kept, a finished run is its results, and whoever asks for more is told so."""

from pathlib import Path
from typing import Any

import pytest

import superfed
from superfed.core.errors import UserError
from superfed.engine.task import Task
from superfed.experiments.onboard import onboard
from superfed.experiments.runner import reevaluate, resume, start
from superfed.store.layout import find_runs
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


def test_finished_runs_are_not_trained_again(lean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(task: Task, round: int) -> list[int]:
        raise AssertionError(round)

    monkeypatch.setattr(Task, "cohort", never)
    resume(lean)


def test_who_needs_models_is_told(lean: Path) -> None:
    run = lean / "apfl-seed0"
    for ask in (lambda: superfed.load(run), lambda: reevaluate(run), lambda: onboard(run, lean, 0)):
        with pytest.raises(UserError, match=f"{run}: {NO_MODELS}"):
            ask()
