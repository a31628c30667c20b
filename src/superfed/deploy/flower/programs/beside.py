"""A federation's run beside the same run in the simulator: how long a round takes, and whether they learn the same."""

import time
from dataclasses import dataclass
from statistics import median

from superfed.deploy.flower.assemble import task_around
from superfed.deploy.flower.server.book import Book
from superfed.deploy.flower.server.terms import Terms
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.executors import OneAtATime
from superfed.engine.local import CPU
from superfed.engine.simulation import Run, advance
from superfed.experiments.assemble import Assembler


@dataclass(frozen=True)
class Beside:
    federation: float
    """Seconds a round, in the middle."""
    simulator: float
    """The same in the simulator, in one process, for all sites one after another."""
    difference: float
    """The largest between the weights that both end with."""


def beside_the_simulator(book: Book) -> Beside | None:
    """For a finished run in which every reply was taken in; None if one was not."""
    terms, announced = Terms.from_json(book.terms.read_text(encoding="utf-8")), book.announced()
    logs = book.rounds()
    if announced is None or not logs or any(log["asked"] != log["taken"] or log["away"] for log in logs):
        return None
    learnt = Run(task_around(announced, terms.agreement.config))
    learnt.restore(Checkpoints(book.checkpoints))
    run, seconds = Run(Assembler(None).task(terms.agreement.config)), []
    while not run.finished:
        began = time.perf_counter()
        for _ in advance([run], OneAtATime(CPU)):
            pass
        seconds.append(time.perf_counter() - began)
    difference = max(float((learnt.server[name] - values).abs().max()) for name, values in run.server.items())
    return Beside(median(log["seconds"] for log in logs), median(seconds), difference)
