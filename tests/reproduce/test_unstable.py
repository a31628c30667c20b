"""Cells whose training blew up or died are marked wherever they are shown, and what happened is said."""

from dataclasses import replace

import pytest
from some_records import MADE, record

from superfed.reproduce.compare import compare
from superfed.reproduce.ordering import ordering
from superfed.reproduce.record import Record
from superfed.reproduce.standing import standing
from superfed.reproduce.targets import draw
from superfed.reproduce.unstable import unstable
from superfed.reproduce.words import cells_of, counts, notes

CELL = "table1/cifar10/k500/superfed_mm"


@pytest.mark.parametrize(
    ("diverged", "stopped", "words"),
    [
        ([0], [False], None),
        ([], [], None),
        ([1], [False], "1 client update was not finite and was left out"),
        ([0, 9, 3], [False] * 3, "12 client updates were not finite and were left out"),
        ([7], [True], "7 client updates were not finite and were left out, and the run ended early"),
        ([7, 0], [True, False], "7 client updates were not finite and were left out, and 1 of 2 runs ended early"),
    ],
)
def test_in_words(diverged: list[int], stopped: list[bool], words: str | None) -> None:
    reasons = ["every client's update was not finite" if early else None for early in stopped]
    runs = [
        replace(record(CELL, seed), diverged=lost, made=replace(MADE, stopped=reason)).summary
        for seed, (lost, reason) in enumerate(zip(diverged, reasons, strict=True))
    ]
    assert unstable(runs) == words


@pytest.mark.parametrize(
    ("silent", "diverged", "words"),
    [
        ([49], 0, None),
        ([50], 0, "the networks of 50 of 100 clients answer nothing: to them all classes are always equally likely"),
        (
            [100, 3],
            0,
            "the networks of 100 of 100 clients answer nothing: to them all classes are always equally likely in 1 of 2 runs",
        ),
        (
            [100],
            1,
            "1 client update was not finite and was left out; the networks of 100 of 100 clients answer nothing: to them all "
            "classes are always equally likely",
        ),
    ],
)
def test_dead_networks_in_words(silent: list[int], diverged: int, words: str | None) -> None:
    runs = [replace(record(CELL, seed), silent=dead, diverged=diverged) for seed, dead in enumerate(silent)]
    assert {run.num_clients for run in runs} == {100}
    assert unstable([run.summary for run in runs]) == words


def test_the_dead_lead_nobody() -> None:
    """Networks that answer nothing have the smallest calibration errors of all."""
    errors = {"fedavg": 0.3, "fedper": 0.01, "ditto": 0.4, "superfed_mm": 0.2, "superfed_lm": 0.25}
    cells = {f"table4/cifar10/symmetric0.6/{method}": error for method, error in errors.items()}
    runs = {
        cell: replace(record(cell, 0, error), silent=100 * cell.endswith("fedper")) for cell, error in cells.items()
    }
    lines = compare("table4", {cell: [run.summary] for cell, run in runs.items()})
    (lead,) = (row for row in standing(lines).rows if row[0].endswith(", ECE"))
    assert lead[1:3] == ("5/11", "-0.10* MM, FedAvg")
    (order,) = (row for row in ordering(lines).rows if row[0].endswith(", ECE"))
    assert order[1] == "5/11"
    assert order[3] == order[5] == "SuPerFed-MM"


def test_a_table_marks_the_number_and_says_why() -> None:
    runs = [record(CELL, 0), replace(record(CELL, 1), diverged=9)]
    lines = compare("table1", {CELL: [run.summary for run in runs]})
    (line,) = (one for one in lines if one.cell == CELL)
    assert cells_of(line)[1].endswith("!")
    assert cells_of(line)[-1] == "unstable"
    assert line.verdict is None
    assert counts(lines) == f"1 of {len(lines)} numbers are there: 1 unstable"
    assert notes([line]) == ["! SuPerFed-MM, CIFAR-10, K = 500: 9 client updates were not finite and were left out."]
    others = [one for one in lines if one.cell != CELL]
    assert not any(cells_of(one)[1].endswith("!") for one in others)
    assert not any(note.startswith("!") for note in notes(others))


def test_what_is_drawn_says_so_below() -> None:
    cells = [f"figure3/cifar10/nu{nu}_mu1/superfed_mm" for nu in (0, 1)]
    drawn = draw("figure3", {cells[0]: [record(cells[0])], cells[1]: [replace(record(cells[1]), diverged=1)]})
    assert [sentence for sentence in drawn.sentences if sentence.startswith("!")] == [
        "! SuPerFed-MM, CIFAR-10, ν = 1, μ = 1: 1 client update was not finite and was left out."
    ]
    marked = {row.cell: [word.endswith("!") for word in row.words].count(True) for row in drawn.sections[0].rows}
    assert marked == {cells[0]: 0, cells[1]: 1}


def test_a_part_is_marked_too_and_what_is_wrong_in_print_is_said() -> None:
    cells = [f"parts/mnist_writers/natural/{method}" for method in ("fedavg", "scaffold")]
    drawn = draw("parts", {cells[0]: [replace(record(cells[0]), diverged=1)], cells[1]: [record(cells[1])]})
    first, *others = drawn.sections[0].rows
    assert first.words[1].endswith("!")
    assert not any(row.words[1].endswith("!") for row in others)
    assert "* SCAFFOLD's control variates were never updated, so it ran as FedAvg." in drawn.sentences


@pytest.mark.parametrize("count", [0, 4])
def test_it_is_kept(count: int) -> None:
    for run in (replace(record(CELL), diverged=count), replace(record(CELL), silent=count)):
        kept = run.as_plain()
        assert ("diverged" in kept, "silent" in kept) == (run.diverged > 0, run.silent is not None)
        assert Record.from_plain(kept) == run
