"""The page of results comes from kept files alone, with none, some or all of them; and the committed one is up to date."""

import re
from pathlib import Path
from xml.etree import ElementTree

from some_records import record

from superfed.reproduce.cells import TARGETS, cells
from superfed.reproduce.keeping import Kept, read_all
from superfed.reproduce.published import published
from superfed.reproduce.results import NOTHING_YET, results

ROOT = Path(__file__).parent.parent.parent


def some(*ids: str, seeds: int = 1) -> dict[str, Kept]:
    targets = [target for target in TARGETS if any(id.startswith(f"{target}/") for id in ids)]
    return {
        target: Kept(
            target,
            "full",
            {id: [record(id, seed) for seed in range(seeds)] for id in ids if id.startswith(f"{target}/")},
        )
        for target in targets
    }


def test_the_committed_page_is_what_the_committed_files_say() -> None:
    text, pictures = results(read_all(ROOT / "results" / "reproduce"), "results")
    assert (ROOT / "docs" / "results.md").read_text() == text, "run: superfed reproduce all --page docs/results.md"
    committed = {path.name: path.read_text() for path in (ROOT / "docs" / "results").glob("*")}
    assert committed == pictures


def test_with_nothing_kept_it_says_so() -> None:
    text, pictures = results({}, "results")
    assert NOTHING_YET in text
    assert pictures == {}
    assert "| Table 1 | 66 numbers | 0 | 0 | 0 | 0 | 0 | 0 | 66 |" in text
    assert (
        "Figure 3 is not run; Figure A is not run; Figure B is not run; What the paper leaves open is not run; What "
        "stands in for missing data is not run." in text
    )
    assert "## Table" not in text


def test_what_is_there_is_shown_and_counted() -> None:
    there = "table1/cifar10/k100/superfed_mm"
    text, _ = results(some(there, "figureB/mnist/k500/apfl", seeds=3), "results")
    assert NOTHING_YET not in text
    assert "### CIFAR-10, K = 100 (top-1, %)" in text
    assert "### MNIST, K = 50" not in text
    assert "\nnothing yet: MNIST, K = 50 (top-1, %); MNIST, K = 100 (top-1, %); " in text
    number = published().of(there, "top1")
    assert number is not None
    row = f"| SuPerFed-MM | 90.00 ±5.00 (0.00) | {number.mean} ±{number.std:.2f} | {90 - number.mean:+.2f} | 90.00"
    assert row in text
    assert "| Table 1 | 66 numbers | 0 | 0 | 1 | 0 | 0 | 0 | 65 |" in text
    assert "Figure B has 1 cells with 3 seeds" in text
    assert "![Test accuracy over λ by the method: 1 curves with bands.](results/figureB.svg)" in text
    assert "| NVIDIA H200, 16 cores, Linux x86\\_64 | superfed 0.1.0, torch 2.11.0, Python 3.11.7 | 1 | 90 s |" in text


def test_everything() -> None:
    every = [cell.id for cell in cells("all", "full")]
    text, pictures = results(some(*every), "results")
    for table in published().tables:
        section = text[text.index(f"## Table {table[-1]}") :].split("\n## ")[0]
        rows = [row for row in section.splitlines() if re.match(r"\| (?!method)\w", row)]
        numbers = sum(len(published().metrics(cell)) for cell in published().cells(table))
        assert len(rows) == numbers + section.count("| 11/11 |")
    assert "NaN" not in text
    assert set(re.findall(r"\(results/([^)]+)\)", text)) == set(pictures)
    assert len(pictures) == 2 + 2 * 6
    for svg in pictures.values():
        ElementTree.fromstring(svg)
    overview = [[int(word) for word in re.findall(r"\d+", row)[1:]] for row in text.splitlines() if "numbers |" in row]
    assert all(sum(counts[1:]) == counts[0] for counts in overview)
    assert [counts[-1] for counts in overview] == [0] * 5


def test_questions_that_are_not_run_say_so_and_others_are_answered() -> None:
    text, _ = results(some("questions/mnist/k500/fedavg", "questions/mnist/k500/superfed_mm"), "results")
    section = text[text.index("## What the paper leaves open") :]
    assert "### 1. Does ν matter once λ is validated? (MNIST, K = 500)\n\nNot run yet.\n" in section
    assert "### 4. How do newcomers fare? (MNIST, K = 500)\n\nNot run yet.\n" in section
    assert "of SuPerFed-MM's gain over FedAvg is the oracle's choice" not in section  # both are at the same 90 %
    assert "SuPerFed-MM gains nothing over FedAvg even by the oracle's choice" in section
    assert "- The rest is not run yet.\n" in section
    assert "| SuPerFed-LM | not run yet | – |" in section
    assert "CIFAR-10" not in section
    assert "What the paper leaves open has 2 cells with 1 seed; " in text


def test_cells_with_more_seeds_than_others_do_not_speak_for_them() -> None:
    cells = ("questions/mnist/k500/fedavg", "questions/mnist/k500/ditto")
    records = {cell: [record(cell, seed) for seed in range(1 + 2 * place)] for place, cell in enumerate(cells)}
    text, _ = results({"questions": Kept("questions", "full", records)}, "results")
    assert "What the paper leaves open has 2 cells with 1 to 3 seeds; " in text


def test_a_smaller_scale_is_named_and_is_not_full() -> None:
    kept = Kept("table1", "smoke", {"table1/mnist/k50/fedavg": [record("table1/mnist/k50/fedavg")]})
    text, _ = results({"table1": kept}, "results")
    assert NOTHING_YET in text
    assert "(smoke: 2 rounds" in text


def test_whether_superfed_is_the_best_is_told() -> None:
    column = "table1/cifar10/k100"
    text, _ = results(some(f"{column}/superfed_mm", f"{column}/fedper"), "results")
    assert "### Is SuPerFed the best?" in text
    assert "| CIFAR-10, K = 100 | 2/11 | +0.00 MM, FedPer | +0.00 MM, FedPer |" in text
    alone, _ = results(some(f"{column}/superfed_mm"), "results")
    assert "Is SuPerFed the best?" not in alone
