"""Progress of many runs on a terminal: all of them in two lines, and below as many of them as the screen holds."""

from itertools import takewhile

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from superfed.cli.tally import DONE, FAILED, RUNNING, STOPPED, TRAINED, Tally, accuracy_of, mean_accuracy
from superfed.engine.simulation import Run

SHOWN_FIRST = {RUNNING: 0, FAILED: 1, TRAINED: 2, STOPPED: 3, DONE: 4}
STYLES = {RUNNING: "", FAILED: "red", TRAINED: "dim", STOPPED: "yellow", DONE: "green"}
GAP = 3


class Board:
    """What is known is drawn several times a second, and costs nothing in between."""

    def __init__(self, console: Console) -> None:
        self._tally = Tally([], [])
        self._whole = True
        self._live = Live(console=console, get_renderable=self._drawn, refresh_per_second=4, vertical_overflow="crop")

    def close(self) -> None:
        """What stays on the screen is the two lines: the table of results follows."""
        self._whole = False
        self._live.stop()

    def started(self, names: list[str], runs: list[Run]) -> None:
        self._tally = Tally(names, runs)
        self._live.start()

    def say(self, words: str) -> None:
        self._live.console.print(words, style="dim", highlight=False, markup=False)

    def lane_done(self, run: int) -> None:
        self._tally.lane_done(run)

    def round_done(self, run: int) -> None:
        self._tally.round_done(run)

    def evaluating(self, total: int) -> None:
        self._tally.evaluating(total)

    def client_evaluated(self) -> None:
        self._tally.evaluated += 1

    def run_done(self, run: int) -> None:
        self._tally.run_done(run)

    def run_failed(self, run: int, reason: str) -> None:
        self._tally.run_failed(run)
        self._live.console.print(
            f"{self._tally.names[run]}: failed: {reason}", style="red", highlight=False, markup=False
        )

    def _drawn(self) -> RenderableType:
        lines = overall(self._tally)
        return Group(lines, Runs(self._tally)) if self._whole else lines


def overall(tally: Tally) -> RenderableType:
    """All runs together: how many are where, how many rounds are done, how long it may take."""
    accuracy = mean_accuracy(tally.runs)
    told = "" if accuracy is None else f"; mean accuracy {accuracy:.1%}"
    first = Text(f"{len(tally.runs)} runs: {tally.counts}{told}", no_wrap=True, overflow="ellipsis")
    if tally.to_evaluate:
        done, total, what = tally.evaluated, tally.to_evaluate, "clients evaluated"
    else:
        done, total, what = tally.rounds, tally.total_rounds, "rounds"
    second = Table.grid(padding=(0, 1), expand=True)
    second.add_column(ratio=1)
    second.add_column(no_wrap=True)
    second.add_column(no_wrap=True)
    second.add_row(
        ProgressBar(total=max(total, 1), completed=done), f"{done:,} of {total:,} {what}", _clock(tally.seconds_left)
    )
    return Group(first, second)


class Runs:
    """A cell per run, side by side as far as the screen is wide: those under way first, the rest counted."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> list[RenderableType]:
        tally, width = self._tally, options.max_width
        rows = max(console.size.height - 5, 1)  # below the two lines, above one that counts the rest, and a free one
        order = sorted(range(len(tally.runs)), key=lambda place: (SHOWN_FIRST[tally.states[place]], place))
        cut = len(_shared(tally.names))
        longest = max((len(name) - cut for name in tally.names), default=0)
        rounds = max((len(str(run.task.schedule.rounds)) for run in tally.runs), default=1)
        cell = longest + 1 + 2 * rounds + 1 + 7
        columns = max((width + GAP) // (cell + GAP), 1)
        shown = order[: rows * columns]
        height = -(-len(shown) // columns)
        cells = [self._cell(place, cut, longest, rounds) for place in shown]
        lines: list[RenderableType] = [
            Text((" " * GAP), no_wrap=True, overflow="ellipsis").join(cells[row::height]) for row in range(height)
        ]
        if len(order) > len(shown):
            lines.append(Text(f"… and {len(order) - len(shown)} more", style="dim"))
        return lines

    def _cell(self, place: int, cut: int, longest: int, rounds: int) -> Text:
        run, state = self._tally.runs[place], self._tally.states[place]
        accuracy = accuracy_of(run)
        told = "" if accuracy is None else f"{accuracy:.1%}"
        if state in (FAILED, STOPPED):
            told = state
        name = self._tally.names[place][cut:]
        text = f"{name:<{longest}} {run.round:>{rounds}}/{run.task.schedule.rounds:<{rounds}} {told:>7}"
        return Text(text, style=STYLES[state], no_wrap=True, overflow="ellipsis")


def _shared(names: list[str]) -> str:
    """The words that all names begin with, as 'superfed-mm-': they tell no run from another."""
    words = zip(*(name.split("-")[:-1] for name in names), strict=False)
    return "".join(f"{one[0]}-" for one in takewhile(lambda one: len(set(one)) == 1, words))


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return "-:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
