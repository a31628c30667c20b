"""The published numbers: complete, well-formed, and equal to the paper's LaTeX where that is at hand.

The paper is the file that SUPERFED_PAPER names, or else ``shared/paper/superfed.tex`` beside the repository.
"""

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import resources
from itertools import product
from pathlib import Path

import pytest

from superfed.algorithms.apfl import APFL
from superfed.metrics.readings import READINGS
from superfed.metrics.scores import METRICS
from superfed.reproduce.cells import cells
from superfed.reproduce.published import Fault, published

BASELINES = ("fedavg", "fedprox", "scaffold", "lg_fedavg", "fedper", "apfl", "pfedme", "ditto", "fedrep")
OURS = ("superfed_mm", "superfed_lm")
ALL = (*BASELINES, *OURS)
NOISES = ("pair0.1", "pair0.4", "symmetric0.2", "symmetric0.6")
STARTS = ("start0.0", "start0.2", "start0.4", "start0.6", "start0.8")
# table: datasets, settings, methods, metrics, and how many numbers that makes
TABLES = {
    "table1": (("mnist", "cifar10"), ("k50", "k100", "k500"), ALL, ("top1",), 66),
    "table2": (("cifar100", "tiny_imagenet"), ("alpha1", "alpha10", "alpha100"), ALL, ("top5",), 66),
    "table3": (("femnist", "shakespeare"), ("natural",), ALL, ("top1", "top5"), 44),
    "table4": (("mnist", "cifar10"), NOISES, ALL, ("ece", "mce", "top1"), 264),
    "table5": (("cifar10",), STARTS, OURS, ("top1", "loss"), 20),
}
REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_complete(table: str) -> None:
    datasets, settings, methods, metrics, count = TABLES[table]
    cells = {"/".join((table, *parts)) for parts in product(datasets, settings, methods)}
    assert set(published().cells(table)) == cells
    assert {key for key in published().numbers if key[0] in cells} == set(product(cells, metrics))
    assert len(cells) * len(metrics) == count
    assert all(published().metrics(cell) == list(metrics) for cell in cells)


def test_there_is_nothing_else() -> None:
    assert list(published().tables) == list(TABLES)
    assert len(published().numbers) == sum(count for *_, count in TABLES.values()) == 460
    with pytest.raises(KeyError):
        published().cells("table6")


def test_no_number_is_there_twice() -> None:
    entries = json.loads(resources.files("superfed.reproduce").joinpath("published.json").read_text("utf-8"))["numbers"]
    repeated = {key: n for key, n in Counter((e["cell"], e["metric"]) for e in entries).items() if n > 1}
    assert repeated == {}


def test_numbers_are_in_range() -> None:
    highest = {"percent": 100.0, "fraction": 1.0}
    impossible = set()
    for (cell, metric), number in published().numbers.items():
        limit = highest.get(published().units[metric], math.inf)
        assert 0 < number.mean < min(limit, 1000), cell
        assert number.std is not None, cell  # print gives one everywhere
        assert number.std > 0, cell
        if number.std**2 > number.mean * (limit - number.mean):  # no values between 0 and the limit vary more
            impossible.add((cell, metric))
    assert impossible == {("table4/cifar10/pair0.1/pfedme", "mce")}
    assert all(published().oddity_of(*key) for key in impossible)


def test_metrics_are_ours() -> None:
    for cell, metric in published().numbers:
        assert metric in METRICS
        assert published().beside(cell.split("/")[0], metric) in METRICS
    assert published().beside("table4", "ece") == "ece_batchwise"
    assert published().beside("table4", "top1") == "top1"
    assert set(published().units) == {metric for _, metric in published().numbers}


def test_some_numbers_as_one_reads_them() -> None:
    def read(cell: str, metric: str) -> tuple[float, float | None]:
        number = published().of(cell, metric)
        assert number is not None
        return number.mean, number.std

    assert read("table1/cifar10/k100/superfed_mm", "top1") == (93.25, 3.80)
    assert read("table2/tiny_imagenet/alpha1/fedper", "top5") == (21.90, 4.71)
    assert read("table3/shakespeare/natural/apfl", "top5") == (83.32, 6.22)
    assert read("table4/mnist/pair0.4/superfed_lm", "mce") == (0.77, 0.04)
    assert read("table5/cifar10/start0.8/superfed_lm", "loss") == (6.28, 1.76)
    assert published().of("table1/cifar10/k100/superfed_mm", "top5") is None
    assert published().of("table1/cifar10/k70/superfed_mm", "top1") is None


def test_tables_say_how_to_read_them() -> None:
    assert {name: info.reading for name, info in published().tables.items()} == {
        **dict.fromkeys(("table1", "table2", "table3", "table4"), "oracle"),
        "table5": "best_shared",
    }
    assert {info.reading for info in published().tables.values()} <= set(READINGS)


def test_every_fault_is_some_cells() -> None:
    cells = {cell for cell, _ in published().numbers}
    for fault in published().faults:
        for pattern in fault.cells:
            assert any(Fault((pattern,), "").covers(cell) for cell in cells), pattern
        assert fault.reason.endswith(".")
    for oddity in published().oddities:
        assert published().of(oddity.cell, oddity.metric) is not None, oddity
        assert published().oddity_of(oddity.cell, oddity.metric) == oddity.remark


def test_faults_are_told_where_they_are_and_nowhere_else() -> None:
    def faulty(table: str) -> set[str]:
        return {cell.split("/")[3] for cell in published().cells(table) if published().fault_of(cell)}

    assert faulty("table1") == faulty("table2") == faulty("table3") == {"scaffold", "pfedme"}
    assert faulty("table4") == set(ALL)
    assert faulty("table5") == set()
    both = published().fault_of("table4/mnist/pair0.1/scaffold") or ""
    assert "test labels" in both
    assert "control variates" in both
    assert "APFL runs" in (published().fault_of("table1/cifar10/k50/pfedme") or "")
    assert "inner step" in (published().fault_of("table1/mnist/k50/pfedme") or "")
    assert published().oddity_of("table1/mnist/k50/pfedme", "top1") is None


def test_a_fault_that_ours_have_too_is_told_and_makes_no_difference() -> None:
    """Else numbers that can be compared would not be."""
    shared = [fault for fault in published().faults if fault.ours_too]
    assert [fault.cells for fault in shared] == [("*/apfl",)]
    for table in ("table1", "table2", "table3"):
        for cell in published().cells(table):
            assert ("α fixed" in (published().faults_of(cell) or "")) == cell.endswith("/apfl")
    ours = {json.dumps(cell.settings["algorithm"]) for cell in cells("all", "full") if cell.id.endswith("/apfl")}
    assert ours == {'{"name": "apfl", "alpha": 0.25}'}
    assert not APFL(alpha=0.25).adaptive


def test_reading_them_needs_no_torch() -> None:
    script = (
        "import sys; from superfed.reproduce.published import published; published(); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_numbers_are_those_of_the_paper() -> None:
    path = Path(os.environ.get("SUPERFED_PAPER") or REPOSITORY.parent / "shared" / "paper" / "superfed.tex")
    if not path.is_file():
        pytest.skip("the paper's LaTeX not found: set SUPERFED_PAPER to the file")
    text = path.read_text(encoding="utf-8")
    printed = {key: value for table in TABLES for key, value in read_table(text, table)}
    assert printed == {key: (number.mean, number.std) for key, number in published().numbers.items()}


# A small reader of the paper's tables. Columns get their names from the header, not from their places.

METHODS = {
    "FedAvg": "fedavg",
    "FedProx": "fedprox",
    "SCAFFOLD": "scaffold",
    "LG-FedAvg": "lg_fedavg",
    "FedPer": "fedper",
    "FedRep": "fedrep",
    "APFL": "apfl",
    "pFedMe": "pfedme",
    "Ditto": "ditto",
    "SuPerFed-MM": "superfed_mm",
    "SuPerFed-LM": "superfed_lm",
}
DATASETS = {
    "MNIST": "mnist",
    "CIFAR10": "cifar10",
    "CIFAR100": "cifar100",
    "TinyImageNet": "tiny_imagenet",
    "FEMNIST": "femnist",
    "Shakespeare": "shakespeare",
}
Printed = tuple[tuple[str, str], tuple[float, float]]


def read_table(text: str, table: str) -> Iterator[Printed]:
    body = text[text.index(rf"\label{{{table}}}") :]
    body = body[: body.index(r"\end{table")]
    header: dict[str, list[str]] = {}
    for line in body.splitlines():
        name, *columns = split_columns(line)
        if not columns:
            continue
        if plain(name) not in METHODS:
            header[plain(name)] = [plain(column) for column in columns for _ in range(span(column))]
            continue
        for i, column in enumerate(columns):
            dataset, setting, metrics = meaning(table, {row: values[i] for row, values in header.items()})
            values = column.split(r"\\") if "tabular" in column else [column]
            for metric, value in zip(metrics, values, strict=True):
                yield (f"{table}/{dataset}/{setting}/{METHODS[plain(name)]}", metric), mean_and_std(value)


def meaning(table: str, above: dict[str, str]) -> tuple[str, str, tuple[str, ...]]:
    """The dataset, setting and metrics of a column, from the header above it and what the caption says."""
    if table == "table5":
        return "cifar10", f"start{above['L/R']}", ("top1", "loss")
    dataset = DATASETS[above["Dataset"]]
    if table == "table1":
        return dataset, f"k{above['# clients']}", ("top1",)
    if table == "table2":
        return dataset, f"alpha{above['concentration (α)']}", ("top5",)
    if table == "table3":
        return dataset, "natural", (above["Accuracy"].lower().replace("-", ""),)
    return dataset, above["Noise type"] + above["Noise ratio"], ("ece", "mce", "top1")


def split_columns(line: str) -> list[str]:
    """A row at its ``&``; the paper's rows stand on one line each, and none nests another ``&``."""
    return re.sub(r"\\\\\s*(\\hline)?\s*$", "", line).split(" & ") if " & " in line else [line]


def span(column: str) -> int:
    found = re.search(r"\\multicolumn\{(\d)\}", column)
    return int(found[1]) if found else 1


def plain(column: str) -> str:
    """A header's text without its markup."""
    column = column.replace(r"\alpha", "α").replace(r"\#", "#")
    column = re.sub(r"\\(begin|end)\{tabular\}(\[c\]\{@\{\}c@\{\}\})?", "", column)
    column = re.sub(r"\\multicolumn\{\d\}\{[cl|]+\}", "", column)
    return re.sub(r"\\[a-z]+|[${}]", "", column).strip()


def mean_and_std(value: str) -> tuple[float, float]:
    found = re.findall(r"(?<![\d.])(\d+\.\d+)\\pm\.?(\d+\.\d+)(?![\d.])", value)  # two are printed as \pm.0.05
    assert len(found) == 1, value
    return float(found[0][0]), float(found[0][1])
