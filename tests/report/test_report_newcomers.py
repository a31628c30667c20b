"""Newcomers: what is averaged, who is shown, and what is said where a method cannot serve them."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from report_folders import demo, mixing_run, plain_run, with_newcomers
from report_views import cells, said, terminal
from rich.cells import cell_len

from superfed.core.errors import UserError
from superfed.report.comparison import Comparison, as_json, compare
from superfed.report.newcomers import TITLE
from superfed.store.files import read_json, write_json
from superfed.store.layout import RunFolder

STATS = [(0.9, 0.1)] * 5
TABLE = 2  # after those of the readings and of the metrics


def fedper(path: Path, seed: int = 0) -> RunFolder:
    return plain_run(path, (0.8, 0.1), seed, "FedPer")


def mixed(folder: Path) -> Comparison:
    """Two seeds each of a method that mixes, one without a global model, one that met no newcomers, and FedAvg."""
    runs = []
    for seed in (0, 1):
        fedavg = plain_run(folder / f"fedavg-{seed}", (0.5, 0.1), seed)
        superfed = mixing_run(folder / f"superfed-{seed}", STATS, STATS[:3], seed)
        runs += [
            with_newcomers(fedavg, (0.4 + seed / 10, 0.2), (0.6, 0.1 + seed / 10)),
            with_newcomers(fedper(folder / f"fedper-{seed}", seed), None, (0.7 - seed / 5, 0.3)),
            with_newcomers(superfed, (1.0, 0.0), (0.85, 0.05)),
            plain_run(folder / f"local-{seed}", (0.7, 0.1), seed, "Local"),
        ]
    return compare(runs)


def shown(text: str) -> str:
    """The part of the terminal's text that is about newcomers."""
    return text.partition(TITLE.partition(" ")[0])[2]


def test_seeds_are_averaged_and_spread_is_over_their_means(tmp_path: Path) -> None:
    superfed, fedper, local, fedavg = (row.newcomers for row in mixed(tmp_path).rows)
    assert fedavg is not None
    assert fedavg.arriving is not None
    arriving, adapted = fedavg.arriving, fedavg.headline
    assert (arriving.mean, arriving.std, arriving.spread) == pytest.approx((0.45, 0.2, 0.05))
    assert (adapted.mean, adapted.std, adapted.spread) == pytest.approx((0.6, 0.15, 0.0))
    assert (fedavg.seeds, fedavg.num_clients, fedavg.epochs) == ([0, 1], [4, 4], 5)
    assert fedper is not None
    assert fedper.arriving is None
    assert (fedper.headline.mean, fedper.headline.spread) == pytest.approx((0.6, 0.1))
    assert local is None
    assert superfed is not None
    assert [found.mean for found in superfed.adapted.values()] == pytest.approx([0.85, 0.86, 0.87, 0.88, 0.89])


def test_runs_without_are_left_out_of_the_average(tmp_path: Path) -> None:
    runs = [plain_run(tmp_path / f"{seed}", (0.5, 0.1), seed) for seed in range(3)]
    with_newcomers(runs[0], (0.2, 0.1), (0.4, 0.1))
    with_newcomers(runs[2], (0.4, 0.3), (0.8, 0.1))
    comparison = compare(runs)
    found = comparison.rows[0].newcomers
    assert found is not None
    assert found.arriving is not None
    assert found.seeds == [0, 2]
    assert (found.arriving.mean, found.arriving.std, found.arriving.spread) == pytest.approx((0.3, 0.2, 0.1))
    assert (found.headline.mean, found.headline.spread) == pytest.approx((0.6, 0.2))
    assert cells(comparison, TABLE)[1][0] == "FedAvg|2 of 3 seeds"
    assert "2 of 3 seeds" in shown(terminal(comparison))


def test_one_seed_has_no_spread(tmp_path: Path) -> None:
    comparison = compare([with_newcomers(plain_run(tmp_path / "a", (0.5, 0.1)), (0.3, 0.1), (0.6, 0.2), 1, 1)])
    assert cells(comparison, TABLE) == [
        ["method", "as they arrive", "after 1 local epoch"],
        ["FedAvg", "30.00 ±10.00", "60.00 ±20.00"],
    ]
    assert "seeds" not in terminal(comparison)
    assert "over 1 newcomer." in terminal(comparison)


def test_json(tmp_path: Path) -> None:
    plain = as_json(mixed(tmp_path))
    assert json.loads(json.dumps(plain)) == plain
    superfed, fedper, local, _ = plain["rows"]
    assert superfed["newcomers"]["num_clients"] == [4, 4]
    assert superfed["newcomers"]["epochs"] == 5
    assert superfed["newcomers"]["seeds"] == [0, 1]
    assert superfed["newcomers"]["arriving"] == {"mean": 1.0, "std": 0.0, "spread": 0.0, "lam": None}
    assert list(superfed["newcomers"]["adapted"]) == list(superfed["readings"])
    assert fedper["newcomers"]["arriving"] is None
    assert fedper["newcomers"]["adapted"]["validated"]["mean"] == pytest.approx(0.6)
    assert "newcomers" not in local


def test_page_has_a_small_table_in_the_order_of_the_large_one(tmp_path: Path) -> None:
    comparison = mixed(tmp_path)
    assert cells(comparison, TABLE) == [
        ["method", "as they arrive", "after 5 local epochs"],
        ["SuPerFed-MM", "100.00 ±0.00|(±0.00)", "85.00 ±5.00|(±0.00)"],
        ["FedPer", "not possible: no global model", "60.00 ±30.00|(±10.00)"],
        ["FedAvg", "45.00 ±20.00|(±5.00)", "60.00 ±15.00|(±0.00)"],
    ]
    text = said(comparison)
    assert f"<h3>{TITLE}</h3>" in text
    assert "mean ± standard deviation over 4 newcomers, and in brackets the standard deviation over seeds" in text
    assert "each client&#x27;s validated one" in text


def test_terminal_has_a_small_table_below_the_large_one(tmp_path: Path) -> None:
    lines = shown(terminal(mixed(tmp_path))).splitlines()
    assert [line.split() for line in lines if "±" in line or "–" in line][:6] == [
        ["SuPerFed-MM", "100.00", "±0.00", "85.00", "±5.00"],
        ["(±0.00)", "(±0.00)"],
        ["FedPer", "–", "60.00", "±30.00"],
        ["(±10.00)"],
        ["FedAvg", "45.00", "±20.00", "60.00", "±15.00"],
        ["(±5.00)", "(±0.00)"],
    ]
    assert lines[-3:] == [
        "Test accuracy in %: mean ±std over 4 newcomers (±std over seeds).",
        "They arrive to the global model, then train by the method's rule; λ validated.",
        "–: not possible, as the method has no whole global model to serve them with.",
    ]


def test_the_dash_is_explained_only_where_there_is_one(tmp_path: Path) -> None:
    one = with_newcomers(plain_run(tmp_path / "a", (0.5, 0.1)), (0.3, 0.1), (0.6, 0.2))
    assert "–" not in shown(terminal(compare([one])))
    assert "λ" not in shown(terminal(compare([one])))
    two = with_newcomers(fedper(tmp_path / "b"), None, (0.6, 0.2))
    assert shown(terminal(compare([one, two]))).count("–") == 2


@pytest.mark.parametrize("width", [40, 80, 100, 140])
def test_it_fits_and_no_cell_is_lost(tmp_path: Path, width: int) -> None:
    long = "a-method-with-a-very-long-name-that-no-table-has-room-for-in-eighty-columns-or-so"
    runs = []
    for seed, top in ((0, 1.0), (1, 0.5)):
        runs.append(with_newcomers(plain_run(tmp_path / f"a{seed}", (0.5, 0.1), seed, long), (top, 0.25), (top, 0.3)))
        superfed = mixing_run(tmp_path / f"b{seed}", STATS, STATS[:3], seed)
        runs.append(with_newcomers(superfed, None, (top, 0.35)))
    text = terminal(compare(runs), width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "…" not in text
    small = shown(text)
    assert [small.count(cell) for cell in ("75.00 ±25.00", "75.00 ±30.00", "75.00 ±35.00", "(±25.00)")] == [1, 1, 1, 3]


def test_what_went_before_is_unchanged(tmp_path: Path) -> None:
    runs = [plain_run(tmp_path / "a", (0.5, 0.1)), fedper(tmp_path / "b")]
    before = terminal(compare(runs))
    with_newcomers(runs[0], (0.3, 0.1), (0.6, 0.2))
    assert terminal(compare(runs)).startswith(before)


def test_where_no_row_has_any_nothing_is_said(tmp_path: Path) -> None:
    """A run that kept nobody from training says null."""
    runs = demo(tmp_path)

    def seen() -> tuple[Any, str, str]:
        comparison = compare(runs)
        return as_json(comparison), terminal(comparison), said(comparison)

    old = seen()
    for run in runs:
        write_json(run.summary_file, read_json(run.summary_file) | {"newcomers": None})
    assert seen() == old
    assert "newcomer" not in json.dumps(old).lower()


def test_epochs_that_differ_are_said_row_by_row(tmp_path: Path) -> None:
    runs = [
        with_newcomers(plain_run(tmp_path / "a", (0.5, 0.1)), (0.3, 0.1), (0.6, 0.2), epochs=1, num_clients=3),
        with_newcomers(fedper(tmp_path / "b"), None, (0.6, 0.2), epochs=10),
    ]
    comparison = compare(runs)
    assert [row[0] for row in cells(comparison, TABLE)] == ["method", "FedPer|10 local epochs", "FedAvg|1 local epoch"]
    assert cells(comparison, TABLE)[0][2] == "after local epochs"
    assert "over newcomers." in terminal(comparison)
    assert "10 local epochs" in terminal(comparison)


def test_what_is_not_known_is_not_called_impossible(tmp_path: Path) -> None:
    run = with_newcomers(plain_run(tmp_path / "a", (0.5, 0.1)), (math.nan, math.nan), (0.6, math.nan))
    comparison = compare([run])
    assert cells(comparison, TABLE)[1] == ["FedAvg", "unknown", "60.00 ±–"]
    assert "unknown" in shown(terminal(comparison))
    assert "not possible" not in terminal(comparison) + said(comparison)
    assert not re.search(r"\bnan\b", terminal(comparison) + said(comparison), re.IGNORECASE)
    assert as_json(comparison)["rows"][0]["newcomers"]["arriving"]["mean"] is None


def test_names_are_only_text(tmp_path: Path) -> None:
    evil = "<script>[red]A[/red]</script>"
    run = with_newcomers(plain_run(tmp_path / "a", (0.5, 0.1), title=evil), None, (0.6, 0.2))
    comparison = compare([run])
    assert "<script>" not in said(comparison)
    assert cells(comparison, TABLE)[1][0] == "&lt;script&gt;[red]A[/red]&lt;/script&gt;"
    assert evil in shown(terminal(comparison))


@pytest.mark.parametrize("key", ["num_clients", "epochs", "arriving", "adapted"])
def test_newcomers_that_cannot_be_read_make_the_run_unreadable(tmp_path: Path, key: str) -> None:
    run = with_newcomers(plain_run(tmp_path / "a", (0.5, 0.1)), (0.3, 0.1), (0.6, 0.2))
    results = read_json(run.summary_file)
    del results["newcomers"][key]
    write_json(run.summary_file, results)
    with pytest.raises(UserError, match=f"lacks '{key}'; evaluate the run anew"):
        compare([run])
