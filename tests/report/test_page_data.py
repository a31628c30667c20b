"""What the page's pictures are drawn from is what the store holds."""

import base64
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from page_folders import whole_experiment, whole_run
from report_folders import demo

from superfed.report.comparison import compare
from superfed.report.page.build import page, write_page
from superfed.report.page.data import page_data
from superfed.report.page.packed import decimals, whole
from superfed.report.page.source import Source
from superfed.store.files import read_json
from superfed.store.layout import RunFolder
from superfed.store.tables import read_table

TYPES = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "f4": np.float32}


def unpack(packed: dict[str, str]) -> NDArray[Any]:
    found: NDArray[Any] = np.frombuffer(base64.b64decode(packed["bytes"]), TYPES[packed["type"]])
    return found


def in_page(text: str) -> Any:
    return json.loads(re.findall(r'id="page-data">(.*?)</script>', text)[0])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunFolder]:
    return whole_experiment(tmp_path_factory.mktemp("whole") / "trial", 30)


@pytest.fixture(scope="module")
def data(runs: list[RunFolder]) -> Any:
    return json.loads(json.dumps(page_data(compare(runs), Source())))


def pairs(data: Any, runs: list[RunFolder]) -> list[tuple[Any, RunFolder]]:
    folders = {run.name: run for run in runs}
    return [(run, folders[run["name"]]) for method in data["methods"] for run in method["runs"]]


@pytest.mark.parametrize(("largest", "kind"), [(255, "u1"), (256, "u2"), (65_536, "u4")])
def test_whole_numbers_come_back_as_they_were(largest: int, kind: str) -> None:
    values = np.array([0, 7, largest])
    assert whole(values)["type"] == kind
    assert unpack(whole(values)).tolist() == values.tolist()


def test_decimals_come_back_to_seven_digits_and_nothing_stays_nothing() -> None:
    back = unpack(decimals(np.array([0.1, math.nan, 1e-9])))
    assert back[[0, 2]] == pytest.approx([0.1, 1e-9], rel=1e-7)
    assert np.isnan(back[1])


def test_every_clients_accuracy_is_exact(data: Any, runs: list[RunFolder]) -> None:
    for run, folder in pairs(data, runs):
        table = read_table(folder.clients)
        rows = [i for i, split in enumerate(table["split"]) if split == "test"]
        clients = run["clients"]
        width = len(clients["lambdas"])
        hits, samples, losses = (unpack(clients[name]) for name in ("hits", "samples", "loss"))
        assert clients["lambdas"] == [table["lam"][i] for i in rows[:width]]
        assert unpack(clients["ids"]).tolist() == [table["client"][i] for i in rows[::width]]
        for place, i in enumerate(rows):
            n = int(samples[place // width])
            assert n == table["samples"][i]
            if n:
                assert int(hits[place]) / n == table["top1"][i]
                assert losses[place] == pytest.approx(table["loss"][i], rel=1e-6)
            else:
                assert table["top1"][i] is None
        assert clients["of"] == 30


def test_every_clients_validated_lambda(data: Any, runs: list[RunFolder]) -> None:
    for run, folder in pairs(data, runs):
        table = read_table(folder.readings)
        chosen = [lam for lam, reading in zip(table["lam"], table["reading"], strict=True) if reading == "validated"]
        assert [run["clients"]["lambdas"][i] for i in unpack(run["clients"]["chosen"])] == chosen


def test_every_clients_bins(data: Any, runs: list[RunFolder]) -> None:
    for run, folder in pairs(data, runs):
        table = read_table(folder.bins)
        stored: dict[int, list[tuple[float, ...]]] = {}
        for i, client in enumerate(table["client"]):
            if client is not None:
                values = (table["bin"][i], table["samples"][i], table["confidence"][i], table["top1"][i])
                stored.setdefault(client, []).append(values)
        starts, b, samples, confidence, hits = (unpack(run["bins"][name]) for name in run["bins"])
        for row, client in enumerate(unpack(run["clients"]["ids"]).tolist()):
            own = slice(int(starts[row]), int(starts[row + 1]))
            right = hits[own] / np.maximum(samples[own], 1)
            ours = list(zip(b[own], samples[own], confidence[own], right, strict=True))
            assert len(ours) == len(stored.get(client, []))
            for mine, theirs in zip(ours, stored.get(client, []), strict=True):
                assert mine == pytest.approx(theirs, rel=1e-6)


def test_bins_of_all_clients_are_added_up_over_seeds(data: Any, runs: list[RunFolder]) -> None:
    """And as all samples are in some bin, the share that is right is the accuracy over samples."""
    for method in data["methods"]:
        folders = [folder for run, folder in pairs(data, runs) if run in method["runs"]]
        tables = [read_table(folder.bins) for folder in folders]
        for at, found in zip(method["bins"]["lambdas"], method["bins"]["by_lambda"], strict=True):
            stored = [
                (table["bin"][i], table["samples"][i], table["samples"][i] * table["top1"][i])
                for table in tables
                for i, client in enumerate(table["client"])
                if client is None and table["lam"][i] == at
            ]
            for b, (samples, _, accuracy) in enumerate(found):
                assert samples == sum(n for place, n, _ in stored if place == b)
                assert samples * accuracy == pytest.approx(
                    sum(hits for place, _, hits in stored if place == b), abs=1e-2
                )
        everyone = sum(n for n, _, _ in method["bins"]["validated"])
        assert everyone == sum(int(unpack(run["clients"]["samples"]).sum()) for run in method["runs"])


def test_means_over_clients_are_the_stores_own(data: Any, runs: list[RunFolder]) -> None:
    for run, folder in pairs(data, runs):
        points = read_json(folder.summary_file)["by_lambda"]
        assert run["lambdas"] == [point["lam"] for point in points]
        for name in ("mean", "std", "worst10"):
            assert run["top1"][name] == [point["top1"][name] for point in points]


def test_what_clients_hold(data: Any, runs: list[RunFolder]) -> None:
    for run, folder in pairs(data, runs):
        held, table = data["holdings"][run["data"]], read_table(folder.holdings)
        starts, classes, samples = (unpack(held[name]) for name in ("starts", "classes", "samples"))
        assert unpack(held["clients"]).tolist() == table["client"]
        for row in range(30):
            own = slice(int(starts[row]), int(starts[row + 1]))
            assert classes[own].tolist() == table["classes"][row]
            assert samples[own].tolist() == table["samples"][row]
        assert sum(held["all"]) == pytest.approx(1, abs=1e-4)
    assert len(data["holdings"]) == 2  # a deal for each seed, shared by the methods


def test_bytes_and_seconds(data: Any) -> None:
    for method in data["methods"]:
        assert method["seconds"] == {"training": 12.5, "evaluation": 2.25}
        assert method["bytes"] == {"up": 0.0, "down": 0.0}


def test_curves_by_round_are_means_over_seeds_at_every_lambda(tmp_path: Path) -> None:
    runs = demo(tmp_path)
    best, plain = page_data(compare(runs), Source())["methods"]
    assert best["curve"]["rounds"] == plain["curve"]["rounds"] == [0, 40]
    assert best["curve"]["lambdas"] == [0.0, 0.5, 1.0]
    assert plain["curve"]["lambdas"] == [None]
    assert [values[1] for values in best["curve"]["mean"]] == pytest.approx([0, 0.92, 0])
    assert best["curve"]["spread"][1][1] == pytest.approx(0.02 * math.sqrt(2 / 3), abs=1e-5)
    assert plain["curve"]["mean"][0] == pytest.approx([0.06, 0.6])


def test_one_lost_curve_leaves_the_others(tmp_path: Path) -> None:
    runs = demo(tmp_path)
    next(run for run in runs if run.name == "superfed-mm-seed0").curve.unlink()
    best = page_data(compare(runs), Source())["methods"][0]
    assert best["curve"]["mean"][1][1] == pytest.approx(0.93)


EVIL = ["</script><script>alert(1)</script>", "<!--", "<script>", "a\u2028b", "]]>", "'\"&"]


def test_names_cannot_break_out_of_the_data(tmp_path: Path) -> None:
    names = [*EVIL, *(str(i) for i in range(4))]
    text = page(compare(whole_experiment(tmp_path / "trial", 5, names)))
    assert text.count("<script") == text.count("</script>") == 2
    assert "<!--" not in text
    (held, _) = in_page(text)["holdings"].values()
    assert held["class_names"] == names


def test_runs_of_an_older_program_show_the_rest_and_say_what_is_missing(tmp_path: Path) -> None:
    runs = whole_experiment(tmp_path / "trial", 8)
    for run in runs:
        run.bins.unlink()
        run.holdings.unlink()
    text = page(compare(runs))
    assert "No bins of confidence are stored for" in text
    assert "Who holds what is not stored for" in text
    assert text.count("superfed evaluate RUN writes it anew.") == 2
    found = in_page(text)
    assert found["holdings"] == {}
    assert all(method["bins"] is None for method in found["methods"])
    assert all(run["clients"] is not None for method in found["methods"] for run in method["runs"])


@pytest.mark.parametrize("name", ["clients", "readings", "bins", "holdings", "curve", "rounds"])
def test_a_broken_table_leaves_the_rest(tmp_path: Path, name: str) -> None:
    runs = whole_experiment(tmp_path / "trial", 8)
    for run in runs:
        getattr(run, name).write_bytes(b"PAR1 and then nothing")
    assert len(in_page(page(compare(runs)))["methods"]) == 2


def test_tables_without_the_columns_that_are_needed_leave_the_rest(tmp_path: Path) -> None:
    runs = whole_experiment(tmp_path / "trial", 8)
    for run in runs:
        run.clients.write_bytes(run.rounds.read_bytes() if run.rounds.exists() else run.curve.read_bytes())
    found = in_page(page(compare(runs)))
    assert all(run["clients"] is None for method in found["methods"] for run in method["runs"])


def test_ten_thousand_clients_make_a_page_that_can_be_mailed(tmp_path: Path) -> None:
    """One run, and as if there were twelve: then each shows as many clients as there is room for."""
    run = whole_run(tmp_path / "many", 10_000)
    write_page([run], tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 15e6
    shown = in_page((tmp_path / "page.html").read_text())["methods"][0]["runs"][0]["clients"]
    assert len(unpack(shown["ids"])) == shown["of"] == 10_000


def test_where_there_is_no_room_for_all_clients_some_are_shown(
    tmp_path: Path, runs: list[RunFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("superfed.report.page.data.ROOM", 1)
    data = page_data(compare(runs), Source())
    for run, _ in pairs(data, runs):
        ids = unpack(run["clients"]["ids"]).tolist()
        assert len(ids) == len(set(ids)) == 20
        assert (ids[0], ids[-1], run["clients"]["of"]) == (0, 29, 30)
        assert len(unpack(run["bins"]["starts"])) == 21
