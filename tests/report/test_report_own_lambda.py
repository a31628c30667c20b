"""The λ that a method chooses itself: one more reading, of those that have it."""

import math
import re
from pathlib import Path

import pytest
from report_folders import config, demo, finished_run, mixing_run, plain_run, summary, with_own
from report_views import cells, said, terminal
from rich.cells import cell_len

from superfed.core.errors import UserError
from superfed.report.comparison import Comparison, as_json, compare
from superfed.store.files import read_json, write_json
from superfed.store.layout import RunFolder

STATS = [(0.9, 0.1)] * 5


def apfl(path: Path, top1: float, seed: int = 0, title: str = "APFL") -> RunFolder:
    readings = dict.fromkeys(("validated", "validated_shared", "best_shared", "oracle", "fixed"), (top1, 0.1))
    results = summary(readings, [(top1, 0.1)] * 3, mixes=True)
    return finished_run(path, config({"name": title.lower()}, seed), title, results)


def mixed(folder: Path) -> Comparison:
    """SuPerFed-MM and FedAvg, without, and APFL, with λ of its own, of two seeds each."""
    runs = [mixing_run(folder / f"superfed-{seed}", STATS, STATS[:3], seed) for seed in (0, 1)]
    runs += [plain_run(folder / f"fedavg-{seed}", (0.5, 0.1), seed) for seed in (0, 1)]
    runs += [with_own(apfl(folder / f"apfl-{seed}", 0.8, seed), (0.7 + seed / 10, 0.2)) for seed in (0, 1)]
    return compare(runs)


def test_it_is_averaged_as_other_readings_are(tmp_path: Path) -> None:
    superfed, apfl, fedavg = mixed(tmp_path).rows
    own = apfl.readings["own"]
    assert (own.mean, own.std, own.spread) == pytest.approx((0.75, 0.2, 0.05))
    assert own.lam is None
    assert "own" not in superfed.readings
    assert "own" not in fedavg.readings


def test_json_has_it_where_the_row_has(tmp_path: Path) -> None:
    superfed, apfl, fedavg = as_json(mixed(tmp_path))["rows"]
    assert apfl["readings"]["own"] == {
        "mean": pytest.approx(0.75),
        "std": pytest.approx(0.2),
        "spread": pytest.approx(0.05),
        "lam": None,
    }
    assert "own" not in superfed["readings"]
    assert "own" not in fedavg["readings"]


def test_page_has_a_column_with_a_dash_for_others(tmp_path: Path) -> None:
    comparison = mixed(tmp_path)
    head, superfed, apfl, fedavg = cells(comparison, 0)
    assert head[-1] == "own λ"
    assert len(head) == 7
    assert (superfed[0], superfed[-1]) == ("SuPerFed-MM", "–")
    assert (apfl[0], apfl[-1]) == ("APFL", "75.00 ±20.00|(±5.00)")
    assert fedavg == ["FedAvg", "50.00 ±10.00|(±0.00)", "no λ: the same in every reading", "–"]
    assert 'colspan="4"' in said(comparison)  # and the dash is the sixth
    assert "the λ, or α, that the method itself fitted or fixed" in said(comparison)


def test_terminal_has_a_column_where_there_is_room(tmp_path: Path) -> None:
    text = terminal(mixed(tmp_path), 120)
    head, body = text.split("─", 1)
    assert "own λ" in head
    rows = {line.split()[0]: line.split() for line in body.splitlines() if "±" in line and not line.startswith(" ")}
    assert rows["APFL"][-3:] == ["75.00", "±20.00", "40.00"]  # worst 10 % stands last
    assert rows["SuPerFed-MM"][-2:] == ["–", "45.00"]
    assert rows["FedAvg"][-2:] == ["–", "25.00"]
    assert "own λ: the λ, or α, that the method itself fitted or fixed; – there: it does neither." in text
    assert "wider" not in text


@pytest.mark.parametrize("width", [80, 88])
def test_it_gives_way_first_and_is_named(tmp_path: Path, width: int) -> None:
    text = terminal(mixed(tmp_path), width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "own" not in text.split("─")[0]
    assert "A wider terminal also shows own λ." in text
    assert "itself fitted" not in text
    assert "λ = 0.5" in text.split("─")[0]


def test_it_gives_way_even_to_the_worst_clients(tmp_path: Path) -> None:
    wide = [(1.0, 0.1)] * 5
    runs = [mixing_run(tmp_path / "a", wide, wide[:3]), with_own(apfl(tmp_path / "b", 0.8), (0.7, 0.1))]
    text = terminal(compare(runs), 96)
    assert "worst" in text.split("─")[0]
    assert "A wider terminal also shows own λ." in text


def test_where_nothing_else_has_room_it_is_the_first_named(tmp_path: Path) -> None:
    text = " ".join(terminal(mixed(tmp_path), 50).split())
    assert "A wider terminal also shows own λ, λ = 0.5" in text


def test_it_competes_only_with_its_like(tmp_path: Path) -> None:
    one = with_own(apfl(tmp_path / "a", 0.8), (0.7, 0.1))
    superfed = mixing_run(tmp_path / "b", STATS, STATS[:3])
    assert compare([one, superfed]).best("own") == []
    two = with_own(apfl(tmp_path / "c", 0.6, title="MAPPER"), (0.75, 0.1))
    assert [row.title for row in compare([one, superfed, two]).best("own")] == ["MAPPER"]


def test_a_row_whose_runs_do_not_all_have_it_goes_without(tmp_path: Path) -> None:
    """One seed may have been evaluated before there was such a reading."""
    comparison = compare([apfl(tmp_path / "a", 0.8, 0), with_own(apfl(tmp_path / "b", 0.8, 1), (0.7, 0.1))])
    assert "own" not in comparison.rows[0].readings
    assert "own" not in terminal(comparison, 140).split("─")[0]


def test_without_it_nothing_is_said(tmp_path: Path) -> None:
    comparison = compare(demo(tmp_path))
    assert "own λ" not in terminal(comparison, 140)
    assert "own λ" not in said(comparison)
    assert len(cells(comparison, 0)[0]) == 6
    assert all("own" not in row["readings"] for row in as_json(comparison)["rows"])


def test_what_is_not_a_number_is_a_dash(tmp_path: Path) -> None:
    comparison = compare([with_own(apfl(tmp_path / "a", 0.8), (math.nan, math.nan))])
    assert cells(comparison, 0)[1][-1] == "–"
    assert as_json(comparison)["rows"][0]["readings"]["own"]["mean"] is None
    assert not re.search(r"\bnan\b", terminal(comparison, 140) + said(comparison), re.IGNORECASE)


def test_one_that_cannot_be_read_makes_the_run_unreadable(tmp_path: Path) -> None:
    run = with_own(apfl(tmp_path / "a", 0.8), (0.7, 0.1))
    results = read_json(run.summary_file)
    del results["readings"]["own"]["top1"]
    write_json(run.summary_file, results)
    with pytest.raises(UserError, match="lacks 'top1'; evaluate the run anew"):
        compare([run])
