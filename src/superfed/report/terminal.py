"""The table people see after a run. It fits 80 columns, and says what its numbers are."""

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from superfed.report.averages import Accuracy
from superfed.report.columns import Column, drawn, that_fit
from superfed.report.comparison import Comparison, Row
from superfed.report.mishaps import answer_nothing, left_out
from superfed.report.newcomers import ARRIVING, TITLE, adapted_heading, how_many, reservations, told
from superfed.report.numbers import NOTHING, accuracy, listed, percent, spread
from superfed.report.readings import HEADLINE, OWN, Reading, fixed_heading

_ROOM_FOR_WORST = 96
# The order in which columns give way where there is no room for all; the headline never does.
_GIVING_WAY = (OWN.name, "worst10", "fixed", "validated_shared", "best_shared", "oracle")


def comparison_table(comparison: Comparison) -> RenderableType:
    """``comparison`` for a terminal: a table and two or three lines that explain it."""
    return _Rendered(comparison)


class _Rendered:
    """Columns are chosen when the width is known."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        titles = [_title(row) for row in self.comparison.rows]
        columns, left_out = that_fit(self._columns(width), titles, width, _GIVING_WAY)
        yield drawn(titles, columns, width)
        yield Text()
        for line in self._explanation({column.name for column in columns}):
            yield Text(line, style="dim")
        if left_out:
            yield Text(f"A wider terminal also shows {listed(left_out)}.", style="dim")
        if self.comparison.newcomers:
            yield from _newcomers(self.comparison, width)
        for line in self._notes():
            yield Text(line, style="yellow")

    def _columns(self, width: int) -> list[Column]:
        rows = self.comparison.rows
        columns = []
        for reading in self.comparison.readings:
            best = self.comparison.best(reading.name)
            cells = [_cell(row, reading.name, row in best) for row in rows]
            columns.append(Column(reading.name, self._heading(reading), cells))
        if width >= _ROOM_FOR_WORST:
            columns.append(Column("worst10", "worst\n10 %", [Text(percent(row.worst10)) for row in rows]))
        return columns

    def _heading(self, reading: Reading) -> str:
        if not self.comparison.mixes:
            return "accuracy"
        heading = reading.heading
        if reading.name == "fixed":
            heading = fixed_heading({lam for row in self.comparison.rows for lam in row.readings["fixed"].lam or []})
        return heading if " = " in heading or reading is OWN else heading.replace(" ", "\n")

    def _explanation(self, shown: set[str]) -> list[str]:
        rows = self.comparison.rows
        counts = {len(row.seeds) for row in rows}
        first = "Test accuracy in %: mean ±std over clients"
        if counts != {1}:
            first += f" (±std over {f'{counts.pop()} seeds' if len(counts) == 1 else 'seeds'})"
        if self.comparison.mixes and not all(row.mixes for row in rows):
            first += f". {NOTHING}: as validated"  # short of words, for the line to fit 80 columns
        if "worst10" in shown:
            first += ". worst 10 %: mean over the worst-off tenth of clients"
        if not self.comparison.mixes:
            return [first + "."]
        second = "validated, the honest headline: λ chosen on each client's own validation data."
        on_test = [word for name, word in (("best_shared", "best shared"), ("oracle", "oracle")) if name in shown]
        if "oracle" in shown:
            second += f" {listed(on_test)} {'choose' if len(on_test) > 1 else 'chooses'} λ on test data;"
            second += " oracle is an upper bound."
        third = ["own λ: the λ, or α, that the method itself fitted or fixed; – there: it does neither."]
        return [first + ".", second, *(third if OWN.name in shown else [])]

    def _notes(self) -> list[str]:
        notes = []
        for row in self.comparison.rows:
            early = row.statuses.get("stopped", 0)
            if early:
                notes.append(f"{row.name}: {early} of {len(row.seeds)} runs stopped before the last round.")
            if row.diverged_updates:
                notes.append(f"{row.name}: {left_out(row.diverged_updates)}.")
            if row.silent_clients:
                clients = sum(run.summary["num_clients"] for run in row.members)
                notes.append(
                    f"{row.name}: {answer_nothing(row.silent_clients, clients)}. A lower training.lr may help."
                )
        if self.comparison.unfinished:
            runs = [
                f"{run.name} ({run.status}" + (f", {run.rounds} rounds done)" if run.rounds is not None else ")")
                for run in self.comparison.unfinished
            ]
            notes.append(f"Without results yet: {listed(runs)}.")
        return notes


def _newcomers(comparison: Comparison, width: int) -> Iterator[RenderableType]:
    """The small table below the large one."""
    met = comparison.newcomers
    found = [newcomers for _, newcomers in met]
    titles = [_title(row, reservations(newcomers, found, len(row.seeds))) for row, newcomers in met]
    after = adapted_heading(found)
    columns = [
        Column("arriving", ARRIVING.replace(" arr", "\narr"), [_newcomer_cell(one.arriving) for one in found]),
        Column("adapted", after.replace(" local", "\nlocal"), [_newcomer_cell(one.headline) for one in found]),
    ]
    first = f"Test accuracy in %: mean ±std over {how_many(found)}"
    if any(one.headline.spread is not None for one in found):
        first += " (±std over seeds)"
    second = "They arrive to the global model, then train by the method's rule"
    lines = [f"{first}.", second + ("; λ validated." if any(row.mixes for row, _ in met) else ".")]
    if any(one.arriving is None for one in found):
        lines.append(f"{NOTHING}: not possible, as the method has no whole global model to serve them with.")
    yield Text()
    yield Text(TITLE, style="bold")
    yield Text()
    yield drawn(titles, columns, width)
    yield Text()
    for line in lines:
        yield Text(line, style="dim")


def _title(row: Row, notes: Sequence[str] = ()) -> Text:
    title = Text(row.title, style="bold")
    lines = [*(row.label.split(", ") if row.label else []), *notes]
    title.append("".join(f"\n{line}" for line in lines), style="not bold dim")
    return title


def _cell(row: Row, reading: str, best: bool) -> Text:
    if reading not in row.readings or (not row.mixes and reading != HEADLINE):
        return Text(NOTHING, style="dim")
    found = row.readings[reading]
    return _with_spread(Text(accuracy(found.mean, found.std), style="bold" if best else ""), found)


def _newcomer_cell(found: Accuracy | None) -> Text:
    return Text(NOTHING, style="dim") if found is None else _with_spread(Text(told(found)), found)


def _with_spread(cell: Text, found: Accuracy) -> Text:
    if spread(found.spread):
        cell.append("\n" + spread(found.spread), style="not bold dim")
    return cell
