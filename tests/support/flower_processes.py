"""A federation of real processes on this machine's loopback, each ended by who started it."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import pytest
import torch

from superfed.deploy.flower.agreement import Agreement
from superfed.deploy.flower.folder.create import create_federation
from superfed.deploy.flower.folder.federation import FederationFolder
from superfed.deploy.flower.programs.child import Child, end_together
from superfed.deploy.flower.programs.demo import start_site
from superfed.deploy.flower.programs.environment import flower_environment
from superfed.deploy.flower.programs.ports import free_port
from superfed.deploy.flower.programs.superlink import superlink
from superfed.deploy.flower.server.book import Book
from superfed.deploy.flower.server.terms import Terms
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.clients import MemoryStates
from superfed.engine.simulation import Run
from support.federations import simulated

MARK = "SUPERFED_TESTED_BY"
CONFIG = """
algorithm: {{name: superfed, start: 0.34}}
data: {{dataset: {{name: synthetic, dim: 6, num_classes: 3}}, num_clients: {sites}}}
model: {{name: two_nn, width: 8}}
training: {{rounds: 3, clients_per_round: 1.0, local_epochs: 2, lr: 0.05}}
evaluation: {{lambdas: 3}}
"""


def small_file(path: Path, sites: int) -> Path:
    path.write_text(CONFIG.format(sites=sites))
    return path


@dataclass
class Running:
    """A server and its sites."""

    folder: FederationFolder
    place: Path
    mark: str
    sites: dict[str, Child] = field(default_factory=dict)
    link: Child | None = None

    def start_site(self, name: str, *more: str) -> Child:
        self.sites[name] = start_site(self.folder.site(name), self.place / "states" / name, *more)
        return self.sites[name]

    def submit(self, config: Path, out: Path, *words: str) -> Child:
        """`superfed deploy run` as a process; its output is beside ``out``."""
        return self.command("run", str(config), "--federation", str(self.folder.path), "--out", str(out), *words)

    def command(self, *words: str) -> Child:
        log = self.place / f"{words[0]}-{uuid4().hex[:6]}.log"
        home = flower_environment(self.place / "home")
        return Child(f"deploy {words[0]}", [sys.executable, "-m", "superfed", "deploy", *words], home, log)

    def done(self, child: Child, seconds: float = 240.0) -> tuple[int, str]:
        """Its exit code and what it said."""
        wait_until(lambda: child.returncode is not None, seconds, child)
        return child.returncode or 0, child.log.read_text()


@contextmanager
def running(place: Path, names: tuple[str, ...], *, sites: bool = True) -> Iterator[Running]:
    with ExitStack() as opened, pytest.MonkeyPatch.context() as patch:
        mark = uuid4().hex
        patch.setenv(MARK, mark)  # whoever is started inherits it, and is found by it
        folder = create_federation(place / "federation", names, f"127.0.0.1:{free_port()}", "tested")
        here = Running(folder, place, mark)
        here.link = opened.enter_context(superlink(folder, folder.host, folder.port))
        opened.callback(lambda: end_together(list(here.sites.values())))
        for name in names if sites else ():
            here.start_site(name)
        yield here
    assert_nobody_left(mark)


def marked(mark: str) -> list[str]:
    """The processes that were started under a mark and are alive."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if int(entry.name) != os.getpid() and f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200])
        except OSError:
            continue
    return found


def assert_nobody_left(mark: str, seconds: float = 15.0) -> None:
    wait_until(lambda: not marked(mark), seconds, None, lambda: str(marked(mark)))


def wait_until(
    ready: Callable[[], bool], seconds: float, child: Child | None = None, why: Callable[[], str] = str
) -> None:
    until = time.monotonic() + seconds
    while not ready():
        said = f"\n{child.log.read_text()[-3000:]}" if child is not None else ""
        assert time.monotonic() < until, f"not within {seconds} s: {why()}{said}"
        time.sleep(0.1)


def learnt(out: Path) -> Run:
    """The server's run as its last checkpoint has it."""
    from superfed.deploy.flower.assemble import task_around

    book = Book(out)
    terms = Terms.from_json(book.terms.read_text())
    announced = book.announced()
    assert announced is not None
    run = Run(task_around(announced, terms.agreement.config), states=MemoryStates())
    assert run.restore(Checkpoints(book.checkpoints))
    return run


def agreement_in(out: Path) -> Agreement:
    return Terms.from_json(Book(out).terms.read_text()).agreement


def assert_as_simulated(out: Path) -> None:
    """What the federation learnt is what the simulator learns."""
    run, expected = learnt(out), simulated(agreement_in(out).config)
    assert run.round == expected.round
    for name, values in expected.server.items():
        torch.testing.assert_close(run.server[name], values, rtol=0, atol=1e-6, msg=name)
