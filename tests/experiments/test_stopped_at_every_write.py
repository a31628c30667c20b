"""An experiment that dies before any one of its writes, and is gone on with, ends in the bytes of one that did not."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from superfed.core.errors import UserError
from superfed.experiments.runner import resume, start

SETTINGS: dict[str, Any] = {
    "algorithm": {"name": "superfed", "nu": 1.0},
    "data": {"dataset": "digits", "num_clients": 4, "partition": "iid", "newcomers": 0.25},
    "model": {"name": "two_nn", "width": 4},
    "training": {"rounds": 3, "clients_per_round": 2, "local_epochs": 1, "batch_size": 50, "lr": 0.05},
    "evaluation": {"every": 2, "clients": 2, "lambdas": 2, "newcomer_epochs": 1},
}


class Death(BaseException):
    """Nothing may catch it, as nothing catches SIGKILL."""


class Mortal:
    """Moves files into place, and dies instead of making the last of its moves."""

    def __init__(self, moves: float) -> None:
        self.moves, self.made, self._replace = moves, 0, os.replace

    def __call__(self, source: Any, target: Any) -> None:
        if self.made == self.moves:
            raise Death
        self.made += 1
        self._replace(source, target)


def contents(folder: Path) -> dict[str, bytes]:
    aside = ("timing.json", "experiment.json", ".lock")
    files = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.name not in aside)
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


@pytest.mark.parametrize(("state", "keep"), [("memory", True), ("disk", True), ("memory", False), ("disk", False)])
def test_dead_before_each_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str, keep: bool) -> None:
    settings = SETTINGS | {"engine": {"workers": 1, "checkpoint_every": 2, "state": state, "keep_models": keep}}

    def begin_or_go_on(moves: float) -> int:
        mortal = Mortal(moves)
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", mortal)
            try:
                resume(out)
            except UserError:  # it died before there was an experiment
                start(settings, out)
        return mortal.made

    out = tmp_path / "peace"
    every = begin_or_go_on(float("inf"))
    peace = contents(out)
    assert every > 20
    assert any("checkpoints" in name for name in peace) == keep
    for moves in range(every):
        out = tmp_path / "war"
        with pytest.raises(Death):
            begin_or_go_on(moves)
        begin_or_go_on(float("inf"))
        war = contents(out)
        assert peace.keys() == war.keys(), f"dead after {moves} moves"
        assert [name for name in peace if peace[name] != war[name]] == [], f"dead after {moves} moves"
        shutil.rmtree(out)
