"""Ctrl-C loses no more than the round under way, and what goes on from there ends in the same bytes."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import nn

import superfed
from superfed.engine.checkpoint import newest
from superfed.engine.clients import MemoryStates
from superfed.engine.simulation import Run, evaluate
from superfed.experiments.runner import resume, start
from support.contents import contents

SETTINGS: dict[str, Any] = {
    "algorithm": {"name": "superfed", "nu": 1.0},
    "seed": [0, 1],
    "data": {"dataset": "digits", "num_clients": 4, "partition": "iid"},
    "model": {"name": "two_nn", "width": 4},
    "training": {"rounds": 6, "clients_per_round": 2, "local_epochs": 1, "batch_size": 50, "lr": 0.05},
    "evaluation": {"every": 4, "clients": 2, "lambdas": 2},
    "engine": {"workers": 1, "checkpoint_every": 100},
}


def saved(out: Path) -> list[int | None]:
    """After how many rounds, for either run."""
    found = [newest(out / f"superfed-mm-seed{seed}" / "checkpoints") for seed in (0, 1)]
    return [None if one is None else one.round for one in found]


def interrupted(out: Path, patch: Callable[[pytest.MonkeyPatch], None]) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        patch(monkeypatch)
        with pytest.raises(KeyboardInterrupt):
            start(SETTINGS, out)


@pytest.fixture(scope="module")
def peace(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("peace") / "out"
    start(SETTINGS, out)
    return contents(out)


def before_round(round: int, seed: int) -> Callable[[pytest.MonkeyPatch], None]:
    """Of two runs that advance together one has taken in the round and the other has not."""
    complete = Run.complete_round

    def patched(run: Run, *arguments: Any) -> None:
        if (run.round, run.task.seed) == (round, seed):
            raise KeyboardInterrupt
        complete(run, *arguments)

    return lambda monkeypatch: monkeypatch.setattr(Run, "complete_round", patched)


@pytest.mark.parametrize(
    ("round", "seed", "expected"), [(3, 0, [3, 3]), (3, 1, [4, 3]), (2, 1, [3, 2]), (0, 0, [None] * 2)]
)
def test_every_run_is_saved_after_its_own_last_round(
    round: int, seed: int, expected: list[int | None], tmp_path: Path, peace: dict[str, bytes]
) -> None:
    out = tmp_path / "out"
    interrupted(out, before_round(round, seed))
    assert saved(out) == expected
    resume(out)
    assert contents(out) == peace


def test_in_the_middle_of_taking_in_a_round_nothing_is_saved(tmp_path: Path, peace: dict[str, bytes]) -> None:
    out, put, made = tmp_path / "out", MemoryStates.put, [0]

    def patched(states: MemoryStates, *arguments: Any) -> None:
        made[0] += 1
        if made[0] == 6:  # the second client of the first run's second round
            raise KeyboardInterrupt
        put(states, *arguments)

    interrupted(out, lambda monkeypatch: monkeypatch.setattr(MemoryStates, "put", patched))
    assert saved(out) == [None, 1]
    resume(out)
    assert contents(out) == peace


def test_while_a_curve_is_followed(tmp_path: Path, peace: dict[str, bytes]) -> None:
    out = tmp_path / "out"

    def patched(runs: Any, *arguments: Any, **more: Any) -> Any:
        if runs[0].round == 4:
            raise KeyboardInterrupt
        return evaluate(runs, *arguments, **more)

    interrupted(out, lambda monkeypatch: monkeypatch.setattr("superfed.experiments.together.evaluate", patched))
    assert saved(out) == [4, 4]
    resume(out)
    assert contents(out) == peace


def test_whoever_does_not_wait_for_the_saving_loses_what_was_not_saved(tmp_path: Path, peace: dict[str, bytes]) -> None:
    out, replace = tmp_path / "out", os.replace

    def impatient(source: Any, target: Any) -> None:
        if "round-000003.json" in str(target):
            raise KeyboardInterrupt
        replace(source, target)

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        before_round(3, 0)(monkeypatch)
        monkeypatch.setattr(os, "replace", impatient)

    interrupted(out, patch)
    assert saved(out) == [None, None]
    resume(out)
    assert contents(out) == peace


def test_fit_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    clients = [(rng.normal(size=(20, 4)).astype("float32"), rng.integers(0, 2, 20)) for _ in range(3)]

    def train(**more: Any) -> superfed.FittedRun:
        return superfed.fit(clients, lambda: nn.Linear(4, 2), "superfed", rounds=5, checkpoint_every=100, **more)

    with pytest.MonkeyPatch.context() as monkeypatch:
        before_round(3, 0)(monkeypatch)
        with pytest.raises(KeyboardInterrupt):
            train(checkpoints=tmp_path / "kept")
    manifest = newest(tmp_path / "kept")
    assert manifest is not None
    assert manifest.round == 3
    assert train(checkpoints=tmp_path / "kept").accuracy == train().accuracy
