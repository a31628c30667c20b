"""How far an experiment has come: live bars on a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from superfed.engine.simulation import Run
from superfed.experiments.observer import Observer

MOST_BARS = 12


def accuracy_now(runs: list[Run]) -> float | None:
    """Mean accuracy over the clients followed and over the runs, at λ = 0.5 where there is a λ; None before the first."""
    latest = []
    for run in runs:
        points = [p for p in run.curve if p.round == run.curve[-1].round] if run.curve else []
        if points:
            latest.append(min(points, key=lambda p: abs(p.lam - 0.5)).top1)
    return sum(latest) / len(latest) if latest else None


@contextmanager
def watching(console: Console) -> Iterator[Observer]:
    """An observer that shows progress on ``console`` until the block ends."""
    if not console.is_terminal:
        yield PlainLines(console)
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[rounds]}"),
        TextColumn("{task.fields[clients]}", style="dim"),
        TextColumn("{task.fields[accuracy]}", style="bold"),
        TimeRemainingColumn(compact=True),
        console=console,
        refresh_per_second=5,
    ) as progress:
        yield Bars(progress)


class Bars:
    """A bar per method, or a single one where there are very many; it moves with every client's update."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bars: dict[str, TaskID] = {}
        self._title: list[str] = []
        self._runs: list[Run] = []
        self._clients: dict[str, int] = {}
        self._evaluation: TaskID | None = None

    def started(self, names: list[str], runs: list[Run]) -> None:
        titles = [run.task.algorithm.title for run in runs]
        self._title = titles if len(set(titles)) <= MOST_BARS else [f"{len(runs)} runs"] * len(runs)
        self._runs = runs
        for title in dict.fromkeys(self._title):
            total = sum(self._lanes(run, run.task.schedule.rounds) for run in self._of(title))
            done = sum(self._lanes(run, run.round) for run in self._of(title))
            self._clients[title] = done
            self._bars[title] = self._progress.add_task(
                title, total=total, completed=done, rounds="", clients="", accuracy=""
            )
            self._show(title)

    def lane_done(self, run: int) -> None:
        title = self._title[run]
        self._clients[title] += 1
        self._progress.advance(self._bars[title])
        self._show(title)

    def round_done(self, run: int) -> None:
        self._show(self._title[run])

    def evaluating(self, total: int) -> None:
        self._evaluation = self._progress.add_task(
            "final evaluation", total=total, rounds="", clients="all clients, every λ", accuracy=""
        )

    def client_evaluated(self) -> None:
        if self._evaluation is not None:
            self._progress.advance(self._evaluation)

    def _show(self, title: str) -> None:
        runs = self._of(title)
        slowest = min(runs, key=lambda run: run.round)
        accuracy = accuracy_now(runs)
        self._progress.update(
            self._bars[title],
            rounds=f"round {slowest.round}/{slowest.task.schedule.rounds}",
            clients=f"{self._clients[title]} clients",
            accuracy="" if accuracy is None else f"{accuracy:6.1%}",
        )

    def _of(self, title: str) -> list[Run]:
        return [run for run, its_title in zip(self._runs, self._title, strict=True) if its_title == title]

    @staticmethod
    def _lanes(run: Run, rounds: int) -> int:
        return rounds * run.task.cohort_size


class PlainLines:
    """A line now and then, for logs."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._runs: list[Run] = []
        self._told = -1
        self._began = 0.0
        self._first = 0

    def started(self, names: list[str], runs: list[Run]) -> None:
        self._runs, self._began = runs, time.monotonic()
        self._first = sum(run.round for run in runs)
        self._console.print(f"{len(runs)} run{'s' if len(runs) > 1 else ''}: {', '.join(names)}", highlight=False)

    def lane_done(self, run: int) -> None: ...

    def round_done(self, run: int) -> None:
        done = sum(r.round for r in self._runs)
        total = sum(r.task.schedule.rounds for r in self._runs)
        tenth = 10 * done // total
        if tenth == self._told or done == self._first:
            return
        self._told = tenth
        left = (time.monotonic() - self._began) / (done - self._first) * (total - done)
        accuracy = accuracy_now(self._runs)
        shown = "" if accuracy is None else f", mean accuracy {accuracy:.1%}"
        self._console.print(f"{done} of {total} rounds{shown}, about {left:.0f} s left", highlight=False)

    def evaluating(self, total: int) -> None:
        self._console.print(f"evaluating {total} clients", highlight=False)

    def client_evaluated(self) -> None: ...
