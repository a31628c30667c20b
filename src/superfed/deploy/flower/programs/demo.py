"""A federation of four sites on this machine, from its keys to its results, and nothing left of it."""

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.deploy.flower.folder.create import create_federation
from superfed.deploy.flower.programs.beside import Beside, beside_the_simulator
from superfed.deploy.flower.programs.child import Child, end_together
from superfed.deploy.flower.programs.control import Control
from superfed.deploy.flower.programs.environment import flower_environment
from superfed.deploy.flower.programs.family import adopt_orphans, end_family
from superfed.deploy.flower.programs.ports import free_port
from superfed.deploy.flower.programs.submit import Watching, follow, make_terms, one_run, prepare, submit
from superfed.deploy.flower.programs.superlink import superlink
from superfed.deploy.flower.server.rules import Rules
from superfed.experiments.load import load_config

SITES = ("anna", "bob", "cleo", "dora")
DIGITS = [
    "algorithm={name: superfed, mixing: model, mu: 0.01, nu: 1.0, start: 0.4}",
    "seed=0",
    f"data.num_clients={len(SITES)}",
    "data.partition={name: dirichlet, alpha: 0.3}",
    "training.clients_per_round=1.0",
]


def demo(
    rounds: int, keep: Path | None, watching: Watching, say: Callable[[str], None]
) -> tuple[dict[str, Any], Beside | None]:
    """The results, and how it was beside the simulator. Whatever happens, every process that was started is ended."""
    adopt_orphans()
    with ExitStack() as opened:
        if keep is not None and keep.exists() and any(keep.iterdir()):
            raise UserError(f"{keep}: is there already and not empty; choose another --keep")
        place = keep or Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="superfed-demo-")))
        opened.callback(_end_everyone)
        config = one_run(load_config("demo", [*DIGITS, f"training.rounds={rounds}"]), "demo")
        folder = create_federation(place / "federation", SITES, f"127.0.0.1:{free_port()}", "demo")
        say(f"an authority, a certificate and {len(SITES)} keys are made; the server starts at {folder.address}")
        opened.enter_context(superlink(folder, folder.host, folder.port))
        children = [start_site(folder.site(site), place / "states" / site) for site in SITES]
        opened.callback(end_together, children)
        say(f"{len(SITES)} sites start, each with its share of the digits")
        book = prepare(place / "run", make_terms(folder, config, Rules(deadline=120, gathering=120)))
        with Control(folder) as control:
            follow(control, submit(control, book), book, watching)
        return book.results(), beside_the_simulator(book)


def start_site(folder: Path, state: Path, *more: str) -> Child:
    """`superfed deploy site` as a process of its own."""
    words = [sys.executable, "-m", "superfed", "deploy", "site", str(folder), "--state", str(state), *more]
    return Child(f"the site {folder.name}", words, flower_environment(state / "flower"), state / "site.log")


def _end_everyone() -> None:
    """Whoever is below this process by now was started for the demo."""
    end_family(os.getpid(), keep=os.getpid())
