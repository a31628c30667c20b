"""For every test: a cache of its own, the program as a user calls it, and a small experiment to call it on."""

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from superfed.cli.main import main
from support.two_nodes import TwoNodes, two_nodes

torch.set_num_threads(1)  # one test process for each core: more threads would only stand in each other's way

SMALL = """
description: a small one
seed: [0, 1]
algorithm: [{name: fedavg}, {name: superfed, nu: 1.0}]
data:
  dataset: digits
  num_clients: 10
  partition: iid
model: {name: two_nn, width: 16}
training: {rounds: 3, clients_per_round: 3, local_epochs: 1, lr: 0.05}
engine: {workers: 1}
"""


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Program = Callable[..., Done]


@pytest.fixture(scope="session", autouse=True)
def _temporary_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Prepared datasets never go to anyone's home; by the environment, so that started processes heed it too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUPERFED_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def superfed() -> Program:
    """Calls the program inside this process, which spares importing torch each time."""

    def call(*arguments: object, cwd: Path | None = None) -> Done:
        out, err, code = io.StringIO(), io.StringIO(), 0
        here = contextlib.chdir(cwd) if cwd is not None else contextlib.nullcontext()
        with here, pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["superfed", *map(str, arguments)])
            patch.setenv("COLUMNS", "100")
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    main()
                except SystemExit as end:
                    code = end.code if isinstance(end.code, int) else 0
        return Done(code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "small.yaml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="session")
def experiment(superfed: Program, config: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished experiment; tests may read it, and must not change it."""
    out = tmp_path_factory.mktemp("finished") / "out"
    done = superfed("run", config, "--out", out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="session")
def cluster() -> Iterator[TwoNodes]:
    """A real Ray cluster; tests may kill a node of it, and let another one join."""
    pytest.importorskip("ray")
    with two_nodes() as started:
        yield started
