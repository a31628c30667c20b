"""The runs that the questions are put to, found by method and by what was varied."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from superfed.report.numbers import NOTHING
from superfed.report.readings import HEADLINE
from superfed.reproduce.asked import Sweep
from superfed.reproduce.compare import told
from superfed.reproduce.drawn import Row
from superfed.reproduce.questions.difference import Difference, Values
from superfed.reproduce.record import Record, Records
from superfed.reproduce.tallies import ARRIVING
from superfed.reproduce.unstable import MARK, unstable
from superfed.reproduce.verdict import Score
from superfed.reproduce.words import METHODS, column_words, score_words

MISSING = "not run yet"


@dataclass(frozen=True)
class Column:
    """One dataset with its clients: the runs of a table's column, and the sweeps around them."""

    dataset: str
    clients: str
    """As in the names of cells: ``k500``, or ``natural``."""
    records: Mapping[tuple[str, str], list[Record]]
    """By method and by what was varied, which is nothing for the table's own."""

    @property
    def table(self) -> str:
        """Whose column it is."""
        return "table3" if self.clients == "natural" else "table1"

    @property
    def title(self) -> str:
        return column_words(self.dataset, self.clients)

    def cell(self, method: str, how: str = "") -> str:
        return f"questions/{self.dataset}/{self.clients}{f'_{how}' if how else ''}/{method}"

    def of(self, method: str, how: str = "") -> list[Record]:
        """Of every seed that was run and counted client by client."""
        return [record for record in self.records.get((method, how), []) if record.tallies is not None]

    def members(self, method: str, reading: str, how: str = "") -> Values:
        return {one.seed: one.tallies.members.percent(reading) for one in self.of(method, how) if one.tallies}

    def newcomers(self, method: str, reading: str, how: str = Sweep.NEWCOMERS) -> Values:
        """Without those that arrive to a method that has nothing for them yet."""
        met = {one.seed: one.tallies.newcomers for one in self.of(method, how) if one.tallies and one.tallies.newcomers}
        return {seed: of.percent(reading) for seed, of in met.items() if reading != ARRIVING or ARRIVING in of.hits}

    def reading(self, method: str, reading: str, how: str = "") -> str:
        """Mean ±std over clients (over seeds), as the run itself says."""
        if not self.of(method, how):
            return MISSING
        scores = []
        for one in self.of(method, how):
            over = one.readings[reading]["top1"]
            if over["mean"] is not None and over["std"] is not None:
                scores.append(Score(100 * over["mean"], 100 * over["std"], one.num_clients))
        return f"{score_words(told(scores))}{MARK if self.unstable(method, how) else ''}"

    def unstable(self, method: str, how: str = "") -> str | None:
        """What is to be said where training blew up or died."""
        return unstable([one.summary for one in self.of(method, how)])

    def row(self, method: str, how: str, *words: str) -> Row:
        return Row(self.cell(method, how), words)

    def beside(self, method: str, how: str, less: Callable[[str], Difference | None], *more: str) -> Row:
        """As it is, varied, and varied ``less`` as it is: at the validated λ and at the oracle's."""
        numbers = [
            words
            for reading in (HEADLINE, "oracle")
            for words in (self.reading(method, reading), self.reading(method, reading, how), apart(less(reading)))
        ]
        return self.row(method, how, name(method), *numbers, *more)


def columns(records: Records) -> list[Column]:
    """Those of which something was run, in the order of the cells."""
    found: dict[tuple[str, str], dict[tuple[str, str], list[Record]]] = {}
    for cell, of_seeds in records.items():
        _, dataset, setting, method = cell.split("/")
        clients, _, how = setting.partition("_")
        found.setdefault((dataset, clients), {})[method, how] = list(of_seeds)
    return [Column(dataset, clients, of_column) for (dataset, clients), of_column in found.items()]


def mean(values: Values) -> str:
    """Mean ±std over clients (over seeds) of accuracies."""
    known = {seed: of[of == of] for seed, of in values.items()}  # NaN is not itself
    return score_words(told([Score(float(of.mean()), float(of.std()), len(of)) for of in known.values() if len(of)]))


def apart(difference: Difference | None) -> str:
    return NOTHING if difference is None else difference.marked


def name(method: str) -> str:
    return METHODS[method]
