"""Numbers whose λ is chosen by the score itself: what they are of a real run, and what is said of them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from some_records import record

from superfed.reproduce.best_by_score import best_by_score
from superfed.reproduce.by_score import by_score
from superfed.reproduce.cells import PlannedRun, cells, runs
from superfed.reproduce.compare import Line, compare
from superfed.reproduce.record import Record, records
from superfed.reproduce.running import finished, run_all
from superfed.store.tables import read_table

LESS = ("ece_batchwise", "mce", "loss")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("by_score")
    run_all(planned(), folder, "again", {"device": "cpu", "workers": 1})
    return folder


def planned() -> list[PlannedRun]:
    wanted = {f"table2/cifar100/alpha1/{method}" for method in ("superfed_mm", "fedavg")}
    return runs([cell for cell in cells("table2", "smoke") if cell.id in wanted], [0])


@pytest.mark.parametrize("metric", ["top5", *LESS])
def test_each_client_is_at_its_best(metric: str, out: Path) -> None:
    (run,) = (run for run in planned() if run.cells[0].id.endswith("superfed_mm"))
    folder = finished(run, out)
    assert folder is not None
    by_client: dict[int, list[float]] = {}
    table = read_table(folder.clients)
    for client, split, value in zip(table["client"], table["split"], table[metric], strict=True):
        if split == "test":
            by_client.setdefault(client, []).append(value)
    assert {len(values) for values in by_client.values()} == {len(set(table["lam"]))}
    best = [min(values) if metric in LESS else max(values) for values in by_client.values()]
    found = best_by_score(folder, ["top1", metric])
    assert found == {metric: {"mean": pytest.approx(np.mean(best)), "std": pytest.approx(np.std(best))}}


def test_it_is_kept_with_the_record_and_only_where_there_is_a_choice(out: Path) -> None:
    found = {cell: of_seeds[0] for cell, of_seeds in records(planned(), out).items()}
    mixed, single = (found[f"table2/cifar100/alpha1/{method}"] for method in ("superfed_mm", "fedavg"))
    assert list(mixed.by_score) == ["top5"]
    assert mixed.by_score["top5"]["mean"] >= mixed.readings["oracle"]["top5"]["mean"]
    assert Record.from_plain(mixed.as_plain()) == mixed
    assert single.by_score == {}
    assert "by_score" not in single.as_plain()


def test_where_top1_is_reported_nothing_is_to_be_found(out: Path) -> None:
    folder = finished(planned()[0], out)
    assert folder is not None
    assert best_by_score(folder, ["top1"]) == {}


def lines(table: str, column: str, by_itself: Mapping[str, float], **means: float) -> list[Line]:
    found = {}
    for method, mean in means.items():
        cell = f"{table}/{column}/{method}"
        over = {"mean": by_itself.get(method), "std": 0.05}
        chosen = {"top5": over, "ece_batchwise": over} if method in by_itself else {}
        found[cell] = [replace(record(cell, mean=mean), by_score=chosen).summary]
    return compare(table, found)


def test_what_it_adds_and_who_leads_then() -> None:
    by_itself = {"superfed_mm": 0.65, "apfl": 0.64}
    aside = by_score(lines("table2", "cifar100/alpha1", by_itself, superfed_mm=0.6, apfl=0.62, fedavg=0.63))
    assert aside.headings == ("", "run", "APFL", "SuPerFed-MM", "lead")
    assert aside.rows == [("CIFAR-100, α = 1", "3/11", "64.00 +2.00", "65.00 +5.00", "+1.00 MM, APFL")]


def test_of_an_error_the_smallest_is_the_best() -> None:
    by_itself = {"superfed_mm": 0.10, "apfl": 0.08}
    aside = by_score(lines("table4", "mnist/pair0.1", by_itself, superfed_mm=0.2, apfl=0.2, fedavg=0.2))
    (row,) = aside.rows
    assert row[0] == "MNIST, pair noise 0.1, ECE"
    assert row[2:4] == ("0.08 -0.12", "0.10 -0.10")
    assert row[4].startswith("+0.02")
    assert row[4].endswith("MM, APFL")


def test_nothing_is_said_where_it_is_not_known_of_all_that_choose() -> None:
    assert by_score(lines("table2", "cifar100/alpha1", {"apfl": 0.7}, superfed_mm=0.6, apfl=0.62)).rows == []
    assert by_score(lines("table1", "cifar10/k50", {}, superfed_mm=0.6, apfl=0.62)).rows == []


def test_nothing_is_said_where_no_client_chooses() -> None:
    """Table 5's λ is one for all."""
    cells = [f"table5/cifar10/start0.2/{method}" for method in ("superfed_mm", "superfed_lm")]
    scores = {"loss": {"mean": 0.1, "std": 0.1}}
    lines = compare("table5", {cell: [replace(record(cell), by_score=scores).summary] for cell in cells})
    assert any(line.by_score for line in lines)
    assert by_score(lines).rows == []


def test_nothing_is_said_where_some_runs_were_made_before_it_was_recorded() -> None:
    """Seed 0 alone would be laid beside the mean of all three."""
    every = {}
    for method, means in {"superfed_mm": (0.6, 0.7, 0.7), "apfl": (0.6, 0.6, 0.6)}.items():
        cell = f"table2/cifar100/alpha1/{method}"
        runs = [record(cell, seed, mean) for seed, mean in enumerate(means)]
        runs[0] = replace(runs[0], by_score={"top5": {"mean": 0.62, "std": 0.05}})
        every[cell] = [run.summary for run in runs]
    found = compare("table2", every)
    assert any(line.by_score for line in found)
    assert by_score(found).rows == []
