"""A table in a narrow terminal: broken between words, never inside one."""

import io

from rich.console import Console
from some_records import record

from superfed.reproduce.questions.draw import questions
from superfed.reproduce.terminal_figure import fitted, show_figure

ROWS = [("", "validated shared", "points"), ("SuPerFed-MM, ν = 1", "97.09 ±4.16", "+0.12")]


def test_what_fits_stays_as_it_is() -> None:
    assert fitted(ROWS, 80) == [list(row) for row in ROWS]


def test_what_does_not_fit_is_broken_but_for_the_first_column() -> None:
    assert fitted(ROWS, 40) == [["", "validated\nshared", "points"], ["SuPerFed-MM, ν = 1", "97.09\n±4.16", "+0.12"]]


def test_questions_fit_into_80_columns() -> None:
    cells = [f"questions/mnist/{run}" for run in ("k500/fedavg", "k500/superfed_mm", "k500_nu0/superfed_mm")]
    console = Console(file=io.StringIO(), width=80)
    show_figure("title", questions({cell: [record(cell, seed) for seed in range(3)] for cell in cells}), console)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "…" not in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert text.count("SuPerFed-MM, ν = 1") == 1
