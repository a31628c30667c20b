"""Kept results grow: nothing that is in a file is lost by what comes later."""

import json
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from some_records import MADE, landscape, record

from superfed.core.errors import UserError
from superfed.reproduce.compare import compare
from superfed.reproduce.keeping import keep, read, read_all
from superfed.reproduce.record import USED, Record
from superfed.reproduce.words import cells_of, notes

ONE, OTHER = "table1/mnist/k50/fedavg", "table1/cifar10/k50/fedavg"


def kept(folder: Path, *records: Record, target: str = "table1") -> Path:
    path = keep(
        target, "full", {one.cell: [other for other in records if other.cell == one.cell] for one in records}, folder
    )
    assert path is not None
    return path


@pytest.mark.parametrize(
    "cell",
    [
        ONE,
        "figure3/cifar10/nu1_mu0.01/superfed_mm",
        "figureA/cifar10/k100/superfed_lm",
        "questions/mnist/k500_newcomers/apfl",
    ],
)
def test_what_is_kept_is_read_again(cell: str, tmp_path: Path) -> None:
    path = kept(tmp_path, record(cell), target=cell.split("/")[0])
    found = read(path)
    assert (found.target, found.scale) == (cell.split("/")[0], "full")
    assert found.records == {cell: [record(cell)]}
    assert read_all(tmp_path) == {found.target: found}


def test_cells_and_seeds_are_added(tmp_path: Path) -> None:
    kept(tmp_path, record(OTHER, seed=1))
    kept(tmp_path, record(ONE, seed=0))
    path = kept(tmp_path, record(OTHER, seed=0), record(ONE, seed=2))
    found = read(path).records
    assert {cell: [one.seed for one in of_seeds] for cell, of_seeds in found.items()} == {ONE: [0, 2], OTHER: [0, 1]}
    assert list(found) == [ONE, OTHER]  # the order of print
    assert len(path.read_text().splitlines()) == 4 + 2  # a record a line


def test_several_processes_may_keep_at_once(tmp_path: Path) -> None:
    def keep_some(first: int) -> None:
        for seed in range(first, first + 15):
            kept(tmp_path, record(ONE, seed=seed))

    others = [get_context("fork").Process(target=keep_some, args=(first,)) for first in (0, 100, 200)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert [other.exitcode for other in others] == [0, 0, 0]
    seeds = [one.seed for one in read(tmp_path / "table1.json").records[ONE]]
    assert seeds == [first + seed for first in (0, 100, 200) for seed in range(15)]
    assert [path.name for path in tmp_path.iterdir()] == ["table1.json"]


def test_the_order_of_keeping_does_not_matter(tmp_path: Path) -> None:
    records = [record(ONE), record(ONE, seed=1), record(OTHER)]
    for one in records:
        kept(tmp_path / "a", one)
    for one in reversed(records):
        kept(tmp_path / "b", one)
    assert (tmp_path / "a" / "table1.json").read_bytes() == (tmp_path / "b" / "table1.json").read_bytes()


def test_the_same_run_evaluated_again_takes_its_own_place(tmp_path: Path) -> None:
    kept(tmp_path, record(ONE, mean=0.8), record(ONE, seed=1))
    found = read(kept(tmp_path, record(ONE, mean=0.9))).records[ONE]
    assert [one.readings["oracle"]["top1"]["mean"] for one in found] == [0.9, 0.9]


def test_surfaces_stay_where_they_cannot_be_had_any_more(tmp_path: Path) -> None:
    whole = record("figureA/cifar10/k100/fedavg")
    kept(tmp_path, whole, target="figureA")
    found = read(kept(tmp_path, replace(whole, surfaces={"own": landscape("new")}), target="figureA"))
    assert set(found.records[whole.cell][0].surfaces) == {"personal", "updates", "own"}


def test_surfaces_of_another_run_are_not_taken_for_its_own(tmp_path: Path) -> None:
    whole = record("figureA/cifar10/k100/fedavg")
    kept(tmp_path, whole, target="figureA")
    again = replace(whole, surfaces={}, made=replace(MADE, began="2026-02-28"))
    (found,) = read(kept(tmp_path, again, target="figureA")).records[whole.cell]
    assert found.surfaces == {}
    assert [one["made"]["began"] for one in found.earlier] == [MADE.began]


def test_runs_with_other_settings_are_not_mixed_in(tmp_path: Path) -> None:
    path = kept(tmp_path, record(ONE))
    before = path.read_bytes()
    with pytest.raises(UserError, match=rf"holds {ONE} with other settings \(0123abcd, and these are ffff0000\)"):
        kept(tmp_path, record(ONE, seed=1, made=replace(MADE, settings="ffff0000")))
    assert path.read_bytes() == before


def test_scales_are_not_mixed(tmp_path: Path) -> None:
    kept(tmp_path, record(ONE))
    with pytest.raises(UserError, match="holds results at the scale full; keep those at the scale smoke elsewhere"):
        keep("table1", "smoke", {ONE: [record(ONE)]}, tmp_path)


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file/kept: no folder can be made there \("):
        kept(tmp_path / "file" / "kept", record(ONE))


def test_nothing_found_makes_no_file(tmp_path: Path) -> None:
    assert keep("table1", "full", {}, tmp_path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[1]", "has schema None, and this program reads schema 1"),
        ('{"schema": 2}', "has schema 2, and this program reads schema 1"),
        ('{"schema": 1, "target": ["table1"], "scale": "full"}', "is of .* at the scale full, which"),
        ('{"schema": 1, "target": "table9", "scale": "full"}', "is of table9 at the scale full, which"),
        ('{"schema": 1, "target": "table1", "scale": "full", "records": [{}]}', "cannot be read .* in record 1"),
        ("{", "cannot be read"),
    ],
)
def test_a_file_that_is_none_is_a_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "table1.json").write_text(text)
    with pytest.raises(UserError, match=sentence):
        read_all(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"readings": {}},
        {"seed": "zero"},
        {"num_clients": None},
        {"diverged": "x"},
        {"silent": [1]},
        {"by_score": {"top5": {"mean": "x", "std": 0.1}}},
        {"made": asdict(MADE) | {"seconds": "x"}},
        {"made": asdict(MADE) | {"hardware": None}},
        {"readings": {name: {"top1": {"mean": "x", "std": 0}} for name in USED}},
        {"readings": {"oracle": 1}},
        {"readings": ["oracle"]},
        {"earlier": [{}]},
        {"made": asdict(replace(MADE, began=None))},  # type: ignore[arg-type]
        {"surfaces": []},
        {"tallies": []},
    ],
)
def test_a_record_that_is_none_is_a_sentence(changes: dict[str, Any], tmp_path: Path) -> None:
    path = kept(tmp_path, record(ONE))
    file = json.loads(path.read_text())
    for damaged in ({**file["records"][0], **changes}, "record", ["record"], None):
        path.write_text(json.dumps(file | {"records": [file["records"][0], damaged]}))
        with pytest.raises(UserError, match=r"table1.json: cannot be read .* in record 2"):
            read_all(tmp_path)


def test_a_run_that_is_made_again_remembers_what_it_replaces(tmp_path: Path) -> None:
    first, second, third = (
        record(ONE, mean=mean, made=replace(MADE, began=f"2026-11-1{day}"))
        for mean, day in ((0.1, 1), (0.8, 2), (0.7, 3))
    )
    kept(tmp_path, first)
    kept(tmp_path, second)
    kept(tmp_path, second)
    (found,) = read(kept(tmp_path, third)).records[ONE]
    assert found.readings == third.readings
    assert [one["readings"] for one in found.earlier] == [first.readings, second.readings]
    assert [one["made"]["began"] for one in found.earlier] == ["2026-11-11", "2026-11-12"]
    (back,) = read(kept(tmp_path, first)).records[ONE]
    assert [one["made"]["began"] for one in back.earlier] == ["2026-11-12", "2026-11-13"]


def test_what_was_replaced_is_told_below_the_table(tmp_path: Path) -> None:
    again = record(ONE, mean=0.8).instead_of(record(ONE, mean=0.1, made=replace(MADE, began="2026-01-01")))
    (line,) = (line for line in compare("table1", {ONE: [again.summary]}) if line.cell == ONE)
    assert cells_of(line)[1] == "80.00 ±5.00†"
    (note,) = notes([line])
    assert note == "† FedAvg, MNIST, K = 50: run again with the same settings and seed; before that it came to 10.00."
