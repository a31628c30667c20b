"""Progress of a few runs on a terminal: a bar per method."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from superfed.cli.tally import Tally, mean_accuracy
from superfed.engine.simulation import Run


class Bars:
    """A bar per method; it moves with every client's update."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[rounds]}"),
            TextColumn("{task.fields[clients]}", style="dim"),
            TextColumn("{task.fields[accuracy]}", style="bold"),
            TimeRemainingColumn(compact=True),
            console=console,
            refresh_per_second=5,
        )
        self._bars: dict[str, TaskID] = {}
        self._tally = Tally([], [])
        self._evaluation: TaskID | None = None
        self._progress.start()

    def close(self) -> None:
        self._progress.stop()

    def started(self, names: list[str], runs: list[Run]) -> None:
        self._tally = Tally(names, runs)
        for title in dict.fromkeys(run.task.algorithm.title for run in runs):
            total = sum(runs[i].task.schedule.rounds * runs[i].task.cohort_size for i in self._of(title))
            self._bars[title] = self._progress.add_task(title, total=total, rounds="", clients="", accuracy="")
            self._show(title)

    def say(self, words: str) -> None:
        self._progress.console.print(words, style="dim", highlight=False, markup=False)

    def lane_done(self, run: int) -> None:
        self._tally.lane_done(run)
        self._show(self._title(run))

    def round_done(self, run: int) -> None:
        self._tally.round_done(run)
        self._show(self._title(run))

    def evaluating(self, total: int) -> None:
        self._evaluation = self._progress.add_task(
            "final evaluation", total=total, rounds="", clients="all clients, every λ", accuracy=""
        )

    def client_evaluated(self) -> None:
        if self._evaluation is not None:
            self._progress.advance(self._evaluation)

    def run_done(self, run: int) -> None: ...

    def run_failed(self, run: int, reason: str) -> None:
        self._tally.run_failed(run)
        self._progress.console.print(
            f"{self._tally.names[run]}: failed: {reason}", style="red", highlight=False, markup=False
        )

    def _show(self, title: str) -> None:
        places = self._of(title)
        runs = [self._tally.runs[place] for place in places]
        slowest = min(runs, key=lambda run: run.round)
        accuracy = mean_accuracy(runs)
        clients = sum(self._tally.clients(place) for place in places)
        self._progress.update(
            self._bars[title],
            completed=clients,
            rounds=f"round {slowest.round}/{slowest.task.schedule.rounds}",
            clients=f"{clients} clients",
            accuracy="" if accuracy is None else f"{accuracy:6.1%}",
        )

    def _title(self, run: int) -> str:
        return self._tally.runs[run].task.algorithm.title

    def _of(self, title: str) -> list[int]:
        return [place for place in range(len(self._tally.runs)) if self._title(place) == title]
