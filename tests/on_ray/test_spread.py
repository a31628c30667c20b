"""One run's lanes on a real cluster of two nodes: the same bytes as on one core, whatever dies meanwhile."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import Program
from superfed.core.errors import UserError
from superfed.deploy.ray.cluster import connected
from superfed.deploy.ray.need import Need
from superfed.deploy.ray.spread import place as places
from superfed.deploy.ray.spread.crew import Crew
from superfed.deploy.ray.spread.executor import Spread
from superfed.deploy.ray.spread.place import spread_on_ray
from superfed.engine.lanes import Lane
from superfed.engine.local import Update
from superfed.experiments.observer import Silent
from superfed.experiments.runner import resume, start
from superfed.experiments.schema import EngineConfig
from support.contents import contents
from support.two_nodes import TwoNodes

SETTINGS: dict[str, Any] = {
    "algorithm": [{"name": "superfed", "nu": 1.0, "start": 0}, {"name": "fedavg"}],
    "data": {"dataset": "digits", "num_clients": 10, "partition": "iid"},
    "model": {"name": "two_nn", "width": 16},
    "training": {"rounds": 3, "clients_per_round": 8, "local_epochs": 20, "lr": 0.05},
    "evaluation": {"every": 2, "clients": 3, "lambdas": 3},
    "engine": {"device": "cpu", "workers": 1, "checkpoint_every": 1},
}
MIDDLE = 17
"""Lanes: of two runs with eight each, the second round is under way."""


class Gathered(Spread):
    """Begins no round before all stations are there."""

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]:
        self._crew.gather()
        return super().update(lanes)


class Disturbing(Silent):
    """Does something when so many lanes are done."""

    def __init__(self, after: int, do: Callable[[], None]) -> None:
        self._left, self._do = after, do

    def lane_done(self, run: int) -> None:
        self._left -= 1
        if self._left == 0:
            self._do()


@pytest.fixture(scope="module")
def on_one_core(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("here") / "out"
    start(SETTINGS, out)
    return contents(out)


@contextmanager
def without_the_other(cluster: TwoNodes) -> Iterator[Callable[[], None]]:
    """What kills it; when the block ends there is another."""
    try:
        yield cluster.kill_other
    finally:
        cluster.join()


def test_a_node_killed_in_the_middle_of_a_round(
    cluster: TwoNodes,
    tmp_path: Path,
    on_one_core: dict[str, bytes],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "Spread", Gathered)
    with without_the_other(cluster) as kill, spread_on_ray(cluster.address) as place:
        start(SETTINGS, tmp_path / "out", observer=Disturbing(MIDDLE, kill), place=place)
    assert contents(tmp_path / "out") == on_one_core
    assert "computed again" in caplog.text


def test_stopped_and_gone_on_with_on_a_single_node(
    cluster: TwoNodes, tmp_path: Path, on_one_core: dict[str, bytes]
) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with without_the_other(cluster) as kill, spread_on_ray(cluster.address) as place:
        place.check(EngineConfig())
        kill()
        assert place.options == f" --ray {cluster.address} --spread"
        with pytest.raises(KeyboardInterrupt):
            start(SETTINGS, tmp_path / "out", observer=Disturbing(MIDDLE, stop), place=place)
        wait_until_nothing_runs()
        resume(tmp_path / "out", place=place)
    assert contents(tmp_path / "out") == on_one_core


def wait_until_nothing_runs() -> None:
    import ray

    deadline = time.monotonic() + 30
    while ray.available_resources().get("CPU") != 1:  # type: ignore[no-untyped-call]
        assert time.monotonic() < deadline, "a station is left running"
        time.sleep(0.1)


OWN = """
import math, sys
from torch import nn

class Net(nn.Module):
    def __init__(self, inputs, outputs, trouble):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(inputs, 12), nn.ReLU(), nn.Linear(12, outputs))
        self.trouble = trouble

    def forward(self, x):
        if self.trouble and len(x) > 2 and sys.argv[0].endswith("default_worker.py"):
            raise ArithmeticError("a net that cannot")
        return self.layers(x)

def net(input_shape, num_classes, trouble: bool = False):
    return Net(math.prod(input_shape), num_classes, trouble)
"""


def test_a_lane_that_raises_fails_its_run_alone(cluster: TwoNodes, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "own.yaml").write_text(
        "algorithm: {name: fedavg}\n"
        "data: {dataset: digits, num_clients: 10, partition: iid}\n"
        "training: {rounds: 1, clients_per_round: 3, local_epochs: 1, lr: 0.05}\n"
        "evaluation: {every: 10}\n"
    )
    words = ["run", "own.yaml", "model=[{name: 'own:net'}, {name: 'own:net', trouble: true}]", "--out", "out"]
    done = subprocess.run(
        [sys.executable, "-m", "superfed.cli.main", *words, "--ray", cluster.address, "--spread"],
        cwd=tmp_path,
        env=os.environ | {"COLUMNS": "100", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stderr
    assert "1 of 2 runs failed: fedavg-troubletrue-seed0 (ArithmeticError: a net that cannot)" in done.stderr
    assert f"superfed resume out --ray {cluster.address} --spread" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in (tmp_path / "out" / "fedavg-troubletrue-seed0" / "failure.txt").read_text()
    assert (tmp_path / "out" / "fedavg-troublefalse-seed0" / "summary.json").exists()


def test_patience_ends_where_there_is_no_room(cluster: TwoNodes) -> None:
    with connected(cluster.address):
        crew = Crew(Need(gpus=1.0), lambda actor: actor, most=2, patience=0.5)
        with pytest.raises(UserError, match="no machine of the cluster computed anything for 0 s"):
            crew.gather()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--spread",), "--spread: goes with --ray"),
        (
            ("--ray", "local", "--spread", "--store", "file:///nowhere"),
            "--store: does not go with --spread, where only this machine writes results",
        ),
        (("--ray", "local", "--spread", "--gpus-per-task", "2"), "--gpus-per-task: must be more than 0 and at most 1"),
    ],
)
def test_mistakes(superfed: Program, config: Path, tmp_path: Path, options: tuple[str, ...], sentence: str) -> None:
    done = superfed("run", config, "--out", "out", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"superfed: {sentence}")
    assert not (tmp_path / "out").exists()
