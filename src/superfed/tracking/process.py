"""A tracker's own process: it reads from standard input what there is to tell, and answers on standard output.

So a library that is slow to import, that prints, hooks into the interpreter or hangs does none of that to the training,
and whatever it is in the middle of can be ended from outside.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from superfed.store.lock import turn
from superfed.tracking.followed import Experiment, Followed
from superfed.tracking.journal import Journal
from superfed.tracking.protocol import Tracker
from superfed.tracking.settings import TRACKERS

WHERE = {"tensorboard": "Writers", "wandb": "WandbRuns", "mlflow": "MlflowRuns"}
UNTOLD = {"MLFLOW_DISABLE_TELEMETRY": "true", "WANDB_ERROR_REPORTING": "false"}
"""The libraries' own reports to their makers, which nobody asked for."""

Answer = Callable[[dict[str, Any]], None]


def main() -> None:
    orders, answers = _aside(0, "r"), _aside(1, "w")
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()

    def answer(told: dict[str, Any]) -> None:
        print(json.dumps(told), file=answers, flush=True)

    os.environ.update({key: value for key, value in UNTOLD.items() if key not in os.environ})
    serve(orders, answer)


def serve(orders: Iterable[str], answer: Answer) -> None:
    """Tell a tracker all that comes. Each order is answered, so that whoever waits sees headway."""
    lines = iter(orders)
    first = json.loads(next(lines))
    experiment = Experiment(Path(first["folder"]), first["name"], first["several"])
    name = first["tracker"]
    experiment.place.mkdir(exist_ok=True)
    with turn(experiment.place / f".{name}.lock"):  # an older one may still be writing what a killed run told it
        try:
            tracker = _opened(name, first["settings"], experiment)
        except Exception as error:
            answer({"over": _why_not(name, error)})
            return
        if remark := getattr(tracker, "remark", None):
            answer({"said": remark})
        desk = _Desk(tracker, Journal(experiment.place / f"{name}.jsonl"), experiment, answer)
        for line in lines:
            order = json.loads(line)
            if order["what"] == "close":
                break
            desk.take(order)
            answer({})
        desk.close()
        answer({"closed": True})


class _Desk:
    """Hands orders to a tracker: only what it was not told before, and whatever it raises is said once."""

    def __init__(self, tracker: Tracker, journal: Journal, experiment: Experiment, answer: Answer) -> None:
        self._tracker, self._journal, self._experiment, self._answer = tracker, journal, experiment, answer
        self._runs: dict[str, Followed] = {}
        self._complained = False

    def take(self, order: dict[str, Any]) -> None:
        name, what = order["run"], order["what"]
        if what == "begin":
            self._try(lambda: self._begin(name))
        elif name in self._runs:
            run = self._runs[name]
            if what == "end":
                self._try(lambda: self._tracker.end(run, order["status"]))
                del self._runs[name]
            elif not self._journal.has(name, what, order["step"]):
                self._try(lambda: self._tell(run, order))

    def close(self) -> None:
        for run in self._runs.values():
            self._try(lambda run=run: self._tracker.end(run, "interrupted"))  # type: ignore[misc]
        self._try(self._tracker.close)
        self._journal.close()

    def _begin(self, name: str) -> None:
        run = Followed(self._experiment.folder / name)
        self._journal.name(name, self._tracker.begin(run, self._journal.known(name)))
        self._runs[name] = run

    def _tell(self, run: Followed, order: dict[str, Any]) -> None:
        if order["what"] == "results":
            self._tracker.results(run, order["step"])
        else:
            self._tracker.log(run, order["step"], order["values"])
        self._journal.note(run.name, order["what"], order["step"])

    def _try(self, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception as error:
            if not self._complained:
                self._complained = True
                self._answer({"said": f"not everything reaches it ({_told(error)}); the run's folder has it all"})


def _opened(name: str, settings: dict[str, Any], experiment: Experiment) -> Tracker:
    made: Tracker = getattr(import_module(f"superfed.tracking.{name}"), WHERE[name])(
        TRACKERS[name](**settings), experiment
    )
    return made


def _why_not(name: str, error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name == name:
        return f'it is not installed; pip install "superfed[{name}]"'
    return f"it cannot be used ({_told(error)})"


def _told(error: Exception) -> str:
    """Its first line, and no more of it than a sentence bears."""
    first = next(iter(str(error).strip().splitlines()), "")[:200]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _aside(number: int, mode: str) -> IO[str]:
    """A standard stream for ourselves alone: what a library reads or prints is nothing to us."""
    ours = os.dup(number)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, number)
    os.close(nowhere)
    return os.fdopen(ours, mode, encoding="utf-8")


def _end_with_parent(parent: int, patience: float = 60) -> None:
    """Orders end with the parent, however it ended; a library that hangs then must not stay behind for ever."""
    while os.getppid() == parent:
        time.sleep(1)
    time.sleep(patience)
    os._exit(1)


if __name__ == "__main__":
    main()
