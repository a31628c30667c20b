"""The numbers of the paper's Tables 1 to 5, as printed, and what is known about how they came about.

A cell is ``table/dataset/setting/method``, such as ``table1/cifar10/k100/superfed_mm``, and has a number for each metric
the table prints. Numbers keep the units of print: accuracies are percent, where the metrics of a run are fractions.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class Number:
    cell: str
    metric: str
    mean: float
    std: float | None
    """None where none is printed."""


@dataclass(frozen=True)
class TableInfo:
    title: str
    setting: str
    """What the third part of its cells' names stands for."""
    averaged: str
    reading: str
    """Which of our readings of λ to lay beside it."""
    reading_why: str
    std: str
    computed_as: Mapping[str, str]
    """Which of our metrics to lay beside a printed one, where it is not the one of that name."""
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Fault:
    """Why some cells came from faulty runs, and are no targets unless ours have the same fault."""

    cells: tuple[str, ...]
    """Patterns; ``*`` also stands for several parts of a cell's name."""
    reason: str
    ours_too: bool = False

    def covers(self, cell: str) -> bool:
        return any(fnmatchcase(cell, pattern) for pattern in self.cells)


@dataclass(frozen=True)
class Oddity:
    """A number that looks odd in print, or that could not be stored letter by letter."""

    cell: str
    metric: str
    remark: str


@dataclass(frozen=True)
class Published:
    source: str
    units: Mapping[str, str]
    tables: Mapping[str, TableInfo]
    faults: tuple[Fault, ...]
    oddities: tuple[Oddity, ...]
    numbers: Mapping[tuple[str, str], Number]
    """By cell and metric, in the order of print."""

    def of(self, cell: str, metric: str) -> Number | None:
        return self.numbers.get((cell, metric))

    def fault_of(self, cell: str) -> str | None:
        """Why a cell is no target, as sentences."""
        return " ".join(fault.reason for fault in self.faults if fault.covers(cell) and not fault.ours_too) or None

    def faults_of(self, cell: str) -> str | None:
        """Everything known to be wrong with a cell, as sentences."""
        return " ".join(fault.reason for fault in self.faults if fault.covers(cell)) or None

    def oddity_of(self, cell: str, metric: str) -> str | None:
        return next((o.remark for o in self.oddities if (o.cell, o.metric) == (cell, metric)), None)

    def cells(self, table: str) -> list[str]:
        """A table's cells, row by row."""
        if table not in self.tables:
            raise KeyError(table)
        return list(dict.fromkeys(cell for cell, _ in self.numbers if cell.startswith(f"{table}/")))

    def metrics(self, cell: str) -> list[str]:
        """What is printed for a cell, from top to bottom."""
        return [metric for of_cell, metric in self.numbers if of_cell == cell]

    def beside(self, table: str, metric: str) -> str:
        """The name of our metric that is computed as the table's ``metric`` was."""
        return self.tables[table].computed_as.get(metric, metric)


@cache
def published() -> Published:
    text = resources.files("superfed.reproduce").joinpath("published.json").read_text(encoding="utf-8")
    file = json.loads(text)
    numbers = [Number(**entry) for entry in file["numbers"]]
    return Published(
        source=file["source"],
        units=file["units"],
        tables={name: TableInfo(**info | {"remarks": tuple(info["remarks"])}) for name, info in file["tables"].items()},
        faults=tuple(Fault(**entry | {"cells": tuple(entry["cells"])}) for entry in file["faults"]),
        oddities=tuple(Oddity(**entry) for entry in file["oddities"]),
        numbers={(number.cell, number.metric): number for number in numbers},
    )
