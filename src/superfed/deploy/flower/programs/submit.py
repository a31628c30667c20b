"""A run of a federation as its operator starts it, follows it, and goes on with it."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from superfed.core.errors import UserError
from superfed.deploy.flower.agreement import agreed
from superfed.deploy.flower.apps.folder import write_app
from superfed.deploy.flower.folder.federation import FederationFolder
from superfed.deploy.flower.folder.keys import read_public_key
from superfed.deploy.flower.programs.control import Control
from superfed.deploy.flower.server.book import FINISHED, Book
from superfed.deploy.flower.server.rules import Rules
from superfed.deploy.flower.server.terms import Terms
from superfed.experiments.load import resolve
from superfed.experiments.schema import RunConfig

OVER = "finished"
SETTLING = 5.0
"""Seconds that the folder may lag behind what Flower says."""


class Watching(Protocol):
    """Who is told how a run goes on."""

    def progress(self, told: dict[str, object]) -> None: ...

    def round_done(self, log: dict[str, object]) -> None: ...


def one_run(settings: dict[str, object], name: str) -> RunConfig:
    """The run that a config stands for; a federation has no use for a grid."""
    configs = resolve(settings)
    if len(configs) > 1:
        raise UserError(
            f"{name}: stands for {len(configs)} runs, and a federation runs one at a time; "
            "choose, for instance with: algorithm=superfed seed=0"
        )
    return configs[0]


def make_terms(folder: FederationFolder, config: RunConfig, rules: Rules, num_classes: int | None = None) -> Terms:
    return Terms(agreed(uuid4().hex, config, folder.sites), rules, _keys(folder), num_classes)


def _keys(folder: FederationFolder) -> tuple[str, ...]:
    """The sites' public keys, in their order, as Flower says them; none where there are none."""
    if folder.insecure:
        return ()
    return tuple(read_public_key(folder.public_key(site)).decode().strip() for site in folder.sites)


def prepare(out: Path, terms: Terms) -> Book:
    """The folder of a new run, with the app that Flower is handed."""
    if out.exists() and any(out.iterdir()):
        raise UserError(
            f"{out}: is there already and not empty; choose another --out, or go on with: superfed deploy resume {out}"
        )
    book = Book(out)
    book.begin(terms.to_json())
    write_app(out / "app", terms, out)
    return book


def reopen(out: Path) -> Book:
    book = Book(out)
    if not book.terms.exists():
        raise UserError(f"{out}: is no folder of a federation's run")
    if (book.outcome() or {}).get("state") == FINISHED:
        raise UserError(f"{out}: is finished")
    return book


def submit(control: Control, book: Book) -> int:
    """Give the run to Flower. Whatever came of it earlier, it goes on after its last completed round."""
    book.under_way()
    return control.start(book.folder / "app")


def offer(control: Control, folder: FederationFolder, out: Path, minutes: float) -> int:
    """Let newcomers be handed what the run at ``out`` has learnt; Flower's number of that."""
    book = Book(out)
    if not book.terms.exists() or book.announced() is None:
        raise UserError(f"{out}: holds no model of a federation's run")
    terms = Terms.from_json(book.terms.read_text(encoding="utf-8"))
    terms = replace(terms, keys=_keys(folder))
    write_app(out / "offer", terms, out, offer_minutes=minutes)
    return control.start(out / "offer")


def follow(control: Control, run_id: int, book: Book, watching: Watching) -> None:
    """Until it is over; a run that failed is an error here, whatever Flower's own programs would return."""
    done = len(book.rounds())
    while True:
        status, details = control.status(run_id)
        over = status.startswith(OVER)
        rounds = book.rounds()
        for log in rounds[done:]:
            watching.round_done(log)
        done = max(done, len(rounds))
        watching.progress(book.progress())
        if over:
            break
        time.sleep(0.5)
    outcome = _outcome(book)
    if outcome is None:
        raise UserError(
            f"the run ended before the server's program could say why ({status}: {details or 'no details'})"
        )
    if outcome["state"] != FINISHED:
        raise UserError(outcome["reason"])
    if status != "finished:completed":
        raise UserError(f"the run is done, and Flower says of it: {status}: {details}")


def _outcome(book: Book) -> dict[str, str] | None:
    until = time.monotonic() + SETTLING
    while (outcome := book.outcome()) is None and time.monotonic() < until:
        time.sleep(0.1)
    return outcome
