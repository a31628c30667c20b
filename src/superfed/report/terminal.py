"""The table people see after a run. It fits 80 columns, and says what its numbers are."""

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from superfed.report.comparison import Comparison, Row
from superfed.report.numbers import NOTHING, accuracy, listed, percent, spread
from superfed.report.readings import HEADLINE, READINGS, fixed_heading

_ROOM_FOR_WORST = 96
_NARROWEST_TITLE = 11
# The order in which readings give way where there is no room for all.
_MOST_WANTED = (HEADLINE, "oracle", "best_shared", "validated_shared", "fixed")


def comparison_table(comparison: Comparison) -> RenderableType:
    """``comparison`` for a terminal: a table and two or three lines that explain it."""
    return _Rendered(comparison)


class _Column:
    """A heading and a cell for each row, of which none may be cut."""

    def __init__(self, name: str, heading: str, cells: Sequence[Text]) -> None:
        self.name = name
        self.heading = heading.replace(" ", "\n") if " = " not in heading else heading
        self.cells = cells
        lines = [*self.heading.split("\n"), *(line for cell in cells for line in cell.plain.split("\n"))]
        self.width = max(cell_len(line) for line in lines)


class _Rendered:
    """Columns are chosen when the width is known."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        titles = [_title(row) for row in self.comparison.rows]
        wanted = max(cell_len(line) for title in titles for line in title.plain.split("\n"))
        columns, left_out = _that_fit(self._columns(width), width - min(wanted, _NARROWEST_TITLE))
        room = width - sum(column.width + 1 for column in columns)
        gap = max(0, min(2, (room - wanted) // max(1, len(columns))))
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap, 0, 0))
        table.add_column("", width=max(1, min(wanted, room - gap * len(columns))), overflow="fold")
        for column in columns:
            table.add_column(column.heading, width=column.width, justify="right", no_wrap=True, vertical="top")
        for i, title in enumerate(titles):
            table.add_row(title, *(column.cells[i] for column in columns))
        yield table
        yield Text()
        for line in self._explanation({column.name for column in columns}):
            yield Text(line, style="dim")
        if left_out:
            yield Text(f"A wider terminal also shows {listed(left_out)}.", style="dim")
        for line in self._notes():
            yield Text(line, style="yellow")

    def _columns(self, width: int) -> list[_Column]:
        rows = self.comparison.rows
        columns = []
        for reading in READINGS if self.comparison.mixes else READINGS[:1]:
            best = self.comparison.best(reading.name)
            cells = [_cell(row, reading.name, row in best) for row in rows]
            columns.append(_Column(reading.name, self._heading(reading.name, reading.heading), cells))
        if width >= _ROOM_FOR_WORST:
            columns.append(_Column("worst10", "worst 10 %", [Text(percent(row.worst10)) for row in rows]))
            columns[-1].heading = "worst\n10 %"
        return columns

    def _heading(self, name: str, heading: str) -> str:
        if not self.comparison.mixes:
            return "accuracy"
        if name != "fixed":
            return heading
        return fixed_heading({lam for row in self.comparison.rows for lam in row.readings[name].lam or []})

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
        return [first + ".", second]

    def _notes(self) -> list[str]:
        notes = []
        for row in self.comparison.rows:
            early = row.statuses.get("stopped", 0)
            if early:
                notes.append(f"{row.name}: {early} of {len(row.seeds)} runs stopped before the last round.")
            if row.diverged_updates:
                notes.append(f"{row.name}: {row.diverged_updates} client updates were not finite and were left out.")
        if self.comparison.unfinished:
            runs = [
                f"{run.name} ({run.status}" + (f", {run.rounds} rounds done)" if run.rounds is not None else ")")
                for run in self.comparison.unfinished
            ]
            notes.append(f"Without results yet: {listed(runs)}.")
        return notes


def _that_fit(columns: list[_Column], room: int) -> tuple[list[_Column], list[str]]:
    """As many columns as fit, the most wanted first, and the names of the others."""
    kept = list(columns)
    giving_way = ["worst10", *reversed(_MOST_WANTED[1:])]
    left_out = []
    for name in giving_way:
        if sum(column.width + 1 for column in kept) <= room:
            break
        gone = [column for column in kept if column.name == name]
        kept = [column for column in kept if column.name != name]
        left_out += [column.heading.replace("\n", " ") for column in gone]
    return kept, left_out


def _title(row: Row) -> Text:
    title = Text(row.title, style="bold")
    if row.label:
        title.append("\n" + row.label.replace(", ", "\n"), style="not bold dim")
    return title


def _cell(row: Row, reading: str, best: bool) -> Text:
    if not row.mixes and reading != HEADLINE:
        return Text(NOTHING, style="dim")
    found = row.readings[reading]
    cell = Text(accuracy(found.mean, found.std), style="bold" if best else "")
    if spread(found.spread):
        cell.append("\n" + spread(found.spread), style="not bold dim")
    return cell
