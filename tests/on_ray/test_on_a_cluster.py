"""Runs on a real cluster of two nodes: the same bytes as here, whatever dies meanwhile."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from conftest import Done, Program
from support.contents import contents
from support.two_nodes import TwoNodes

CONFIG = """
seed: [0, 1]
algorithm: [{name: fedavg}, {name: superfed, nu: 1.0}]
data: {dataset: digits, num_clients: 10, partition: iid}
model: {name: two_nn, width: 16}
training: {rounds: 6, clients_per_round: 3, local_epochs: 1, lr: 0.05}
engine: {device: cpu, workers: 1, checkpoint_every: 1}
"""
PATIENCE = 240


Process = subprocess.Popen[str]


@contextmanager
def started(*arguments: object, cwd: Path) -> Iterator[Process]:
    """The program, in a process of its own; not longer than the block."""
    words = [sys.executable, "-m", "superfed.cli.main", *map(str, arguments)]
    environment = os.environ | {"COLUMNS": "100", "OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=cwd, env=environment, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def finished(*arguments: object, cwd: Path) -> Done:
    with started(*arguments, cwd=cwd) as process:
        return ended(process)


def ended(process: Process) -> Done:
    said, complained = process.communicate(timeout=PATIENCE)
    return Done(process.returncode, said, complained)


def until(happened: Callable[[], bool], process: Process) -> None:
    """Wait while the program runs."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def checkpoints(out: Path) -> int:
    return len(list(out.glob("*/checkpoints/round-*.json")))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "small.yaml"
    path.write_text(CONFIG)
    return path


def undisturbed(superfed: Program, *arguments: object, out: Path) -> dict[str, bytes]:
    done = superfed("run", *arguments, "--out", out)
    assert done.returncode == 0, done.stderr
    return contents(out)


def test_a_node_killed_in_the_middle(superfed: Program, small: Path, cluster: TwoNodes, tmp_path: Path) -> None:
    longer = (small, "training.rounds=30", "training.local_epochs=4")
    with started("run", *longer, "--out", "there", "--ray", cluster.address, cwd=tmp_path) as process:
        until(lambda: checkpoints(tmp_path / "there") >= 4, process)
        cluster.kill_other()
        try:
            done = ended(process)
        finally:
            cluster.join()
    assert done.returncode == 0, done.stderr
    assert "going on from the last checkpoint" in done.stderr
    assert done.stdout.count("done after 30 rounds") == 4
    assert contents(tmp_path / "there") == undisturbed(superfed, *longer, out=tmp_path / "here")


def test_ctrl_c_and_once_more(superfed: Program, small: Path, cluster: TwoNodes, tmp_path: Path) -> None:
    longer = (small, "training.rounds=30", "training.local_epochs=4")
    with started("run", *longer, "--out", "there", "--ray", cluster.address, cwd=tmp_path) as process:
        until(lambda: checkpoints(tmp_path / "there") >= 2, process)
        process.send_signal(signal.SIGINT)
        stopped = ended(process)
    assert stopped.returncode == 130
    assert stopped.stderr == f"superfed: stopped; go on with: superfed resume there --ray {cluster.address}\n"
    before = contents(tmp_path / "there")
    time.sleep(1)
    assert contents(tmp_path / "there") == before, "something goes on"
    again = finished(*stopped.stderr.split("with: superfed ")[1].split(), cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert contents(tmp_path / "there") == undisturbed(superfed, *longer, out=tmp_path / "here")


def test_a_cluster_of_its_own_and_nothing_is_left_running(superfed: Program, small: Path, tmp_path: Path) -> None:
    token = f"superfed-test-{tmp_path}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUPERFED_TEST_TOKEN", token)
        done = finished("run", small, "--out", "there", "--ray", "local", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "evaluating" in done.stdout
        assert done.stdout.count("done after 6 rounds") == 4
        all_gone(token)
        with started("run", small, "training.rounds=500", "--out", "killed", "--ray", "local", cwd=tmp_path) as process:
            until(lambda: checkpoints(tmp_path / "killed") >= 1, process)
            assert len(heirs(token)) > 2
        all_gone(token)  # killed hard, it could not end them itself
    assert contents(tmp_path / "there") == undisturbed(superfed, small, out=tmp_path / "here")


def all_gone(token: str) -> None:
    """Ray's processes end by themselves, some seconds after they find that the one they belong to is not there."""
    deadline = time.monotonic() + PATIENCE
    while heirs(token):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def heirs(token: str) -> list[int]:
    """The processes that were started with this in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it ended meanwhile
            if token.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


OWN = """
import math, os, sys
from torch import nn
from beside import WIDTH

class Net(nn.Module):
    def __init__(self, inputs, outputs, trouble):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(inputs, WIDTH), nn.ReLU(), nn.Linear(WIDTH, outputs))
        self.trouble = trouble

    def forward(self, x):
        if self.trouble != "none" and len(x) > 2 and sys.argv[0].endswith("default_worker.py"):
            if self.trouble == "dies":
                os._exit(7)
            raise ArithmeticError("a net that cannot")
        return self.layers(x)

def net(input_shape, num_classes, trouble: str = "none"):
    return Net(math.prod(input_shape), num_classes, trouble)
"""


def test_a_poisoned_config_fails_alone_and_own_networks_travel(small: Path, cluster: TwoNodes, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "beside.py").write_text("WIDTH = 12\n")
    own = (small, "algorithm={name: fedavg}", "seed=0", "training.rounds=2")
    networks = "model=[{name: 'own:net'}, {name: 'own:net', trouble: dies}, {name: 'own:net', trouble: raises}]"
    done = finished("run", *own, networks, "--out", "there", "--ray", cluster.address, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "2 of 3 runs failed" in done.stderr
    assert "fedavg-troubleraises-seed0 (ArithmeticError: a net that cannot)" in done.stderr
    dead = "its process died, perhaps of too little memory, time and again at the same place"
    assert f"fedavg-troubledies-seed0 ({dead})" in done.stderr
    assert "Traceback" not in done.stderr
    assert finished("run", *own, "model={name: 'own:net'}", "--out", "here", cwd=tmp_path).returncode == 0
    assert contents(tmp_path / "there" / "fedavg-troublenone-seed0") == contents(tmp_path / "here" / "fedavg-seed0")


def test_machines_that_share_no_folder(superfed: Program, small: Path, cluster: TwoNodes, tmp_path: Path) -> None:
    store = tmp_path / "bucket"
    longer = (small, "training.rounds=30", "training.local_epochs=4")
    there = ("--ray", cluster.address, "--store", f"file://{store}")
    with started("run", *longer, "--out", "there", *there, cwd=tmp_path) as process:
        # Early, so that the first run has hardly begun.
        until(lambda: len(list(store.glob("*/*/checkpoints/round-*.json"))) >= 2, process)
        assert not list((tmp_path / "there").glob("*/checkpoints/round-*.json")), "computed in a shared folder"
    done = finished("resume", "there", *there, cwd=tmp_path)  # killed, it said nothing and fetched nothing
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "there") == undisturbed(superfed, *longer, out=tmp_path / "here")
    assert not list(store.rglob("*.part"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--ray", "127.0.0.1:1"), "--ray 127.0.0.1:1: no Ray cluster can be reached there"),
        (("--ray", "local", "--gpus-per-task", "2"), "--gpus-per-task: must be more than 0 and at most 1, not 2"),
        (("--store", "file:///nowhere"), "--store: goes with --ray"),
        (("--gpus-per-task", ".5"), "--gpus-per-task: goes with --ray"),
        (("--ray", "local", "--store", "nothing://there"), "--store nothing://there: cannot be used"),
    ],
)
def test_mistakes(superfed: Program, small: Path, tmp_path: Path, options: tuple[str, ...], sentence: str) -> None:
    done = superfed("run", small, "--out", "out", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"superfed: {sentence}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_what_a_cluster_does_not_have(cluster: TwoNodes, small: Path, tmp_path: Path) -> None:
    done = finished("run", small, "engine.device=cuda", "--ray", cluster.address, "--out", "out", cwd=tmp_path)
    words = "engine.device: cuda was asked for, and no machine of the cluster offers a GPU to Ray"
    assert (done.returncode, done.stderr) == (2, f"superfed: {words}\n")


def test_ray_is_not_there(superfed: Program, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    done = superfed("run", small, "--out", "out", "--ray", "local", cwd=tmp_path)
    words = "--ray needs Ray; install it with: pip install 'superfed[ray]'"
    assert (done.returncode, done.stderr) == (2, f"superfed: {words}\n")
    assert not (tmp_path / "out").exists()


def test_a_table_of_the_paper(superfed: Program, cluster: TwoNodes, tmp_path: Path) -> None:
    table = ("reproduce", "table1", "--scale", "smoke", "--only", "mnist/k50/fedavg,cifar10/k50/superfed_mm")
    cpu = ("engine.device=cpu", "engine.workers=1")
    done = finished(*table, *cpu, "--out", "there", "--ray", cluster.address, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of 2 numbers are there" in done.stdout
    assert superfed(*table, *cpu, "--out", tmp_path / "here").returncode == 0
    runs = {name: held for name, held in contents(tmp_path / "there" / "smoke").items() if "seed0/" in name}
    assert runs
    assert runs == {name: held for name, held in contents(tmp_path / "here" / "smoke").items() if "seed0/" in name}
