"""The table in the terminal: it fits, loses nothing, and explains itself."""

from io import StringIO
from pathlib import Path

import pytest
from report_folders import config, demo, finished_run, mixing_run, plain_run, summary, unfinished_run
from rich.cells import cell_len
from rich.console import Console

from superfed.report.comparison import Comparison, compare
from superfed.report.numbers import accuracy, percent, spread
from superfed.report.terminal import comparison_table
from superfed.store.files import read_json, write_json


def drawn(comparison: Comparison, width: int, colour: bool = False) -> str:
    out = StringIO()
    Console(file=out, width=width, force_terminal=colour, color_system="standard" if colour else None).print(
        comparison_table(comparison)
    )
    return out.getvalue()


def widest(folder: Path) -> Comparison:
    """Four methods whose every cell is as long as a cell can be."""
    runs = []
    for seed, top in ((0, 1.0), (1, 0.5)):
        for method in ("SuPerFed-MM", "SuPerFed-LM"):
            stats = [(top, 0.25 + i / 100) for i in range(5)]
            readings = dict(
                zip(("validated", "validated_shared", "best_shared", "oracle", "fixed"), stats, strict=True)
            )
            settings = config({"name": "superfed", "mixing": method}, seed)
            results = summary(readings, stats[:3], mixes=True)
            runs.append(finished_run(folder / f"{method}-{seed}", settings, method, results))
        runs += [plain_run(folder / f"{name}-{seed}", (top, 0.3), seed, name) for name in ("FedAvg", "FedProx")]
    return compare(runs)


@pytest.mark.parametrize("width", [80, 100, 140])
def test_it_fits_and_no_cell_is_lost(tmp_path: Path, width: int) -> None:
    comparison = widest(tmp_path)
    text = drawn(comparison, width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "…" not in text
    for row in comparison.rows:
        assert row.title in text
        for name, found in row.readings.items():
            if row.mixes or name == "validated":
                assert accuracy(found.mean, found.std) in text
                assert spread(found.spread) in text
    assert text.count("75.00 ±") == 2 * 5 + 2
    assert text.count("(±25.00)") == 2 * 5 + 2


def test_numbers_stand_in_percent_with_the_spread_below(tmp_path: Path) -> None:
    lines = drawn(compare(demo(tmp_path)), 80).splitlines()
    row = next(i for i, line in enumerate(lines) if line.startswith("SuPerFed-MM"))
    assert "92.00 ±12.00" in lines[row]
    assert "(±1.63)" in lines[row + 1]
    assert lines[row].index("92.00 ±12.00") + len("92.00 ±12.00") == lines[row + 1].index("(±1.63)") + len("(±1.63)")


def test_headings_and_explanation(tmp_path: Path) -> None:
    text = drawn(compare(demo(tmp_path)), 80)
    head = text.split("─")[0]
    for word in ("validated", "shared", "best", "oracle", "λ = 0.5"):
        assert word in head
    flowing = " ".join(text.split())
    assert "mean ±std over clients (±std over 3 seeds)" in flowing
    assert "validated, the honest headline: λ chosen on each client's own validation data" in flowing
    assert "oracle choose λ on test data; oracle is an upper bound" in flowing


def test_a_method_without_lambda_is_shown_once(tmp_path: Path) -> None:
    text = drawn(compare(demo(tmp_path)), 80)
    line = next(line for line in text.splitlines() if line.startswith("FedAvg"))
    assert line.split() == ["FedAvg", "60.00", "±25.00", "–", "–", "–", "–"]
    assert "–: as validated" in text


def test_worst_clients_appear_where_there_is_room(tmp_path: Path) -> None:
    comparison = compare(demo(tmp_path))
    assert "worst" not in drawn(comparison, 95)
    wide = drawn(comparison, 96)
    assert "worst" in wide
    assert percent(comparison.rows[0].worst10) == "46.00"
    assert "46.00" in wide


def test_too_narrow_a_terminal_leaves_readings_out_and_says_so(tmp_path: Path) -> None:
    text = drawn(widest(tmp_path), 50)
    assert max(cell_len(line) for line in text.splitlines()) <= 50
    assert "75.00 ±25.00" in text
    assert "A wider terminal also shows λ = 0.5" in " ".join(text.split())


def test_the_best_of_a_column_is_bold(tmp_path: Path) -> None:
    readings = [(0.8, 0.1), (0.8, 0.1), (0.8, 0.1), (0.95, 0.1), (0.8, 0.1)]
    runs = [plain_run(tmp_path / "a", (0.9, 0.1)), mixing_run(tmp_path / "b", readings, [(0.8, 0.1)] * 3)]
    text = drawn(compare(runs), 80, colour=True)
    assert "\x1b[1m90.00 ±10.00" in text
    assert "\x1b[1m95.00 ±10.00" in text
    assert "\x1b[1m80.00 ±10.00" not in text  # FedAvg beats these, although its dash does not show it


def test_settings_that_differ_stand_below_the_title(tmp_path: Path) -> None:
    stats = [(0.9, 0.1)] * 5
    runs = [mixing_run(tmp_path / f"{nu}", stats, stats[:3], nu=nu) for nu in (1.0, 2.0)]
    lines = [line.strip() for line in drawn(compare(runs), 80).splitlines()]
    assert "nu=1.0" in lines
    assert "nu=2.0" in lines


def test_only_methods_without_lambda_need_one_column(tmp_path: Path) -> None:
    text = drawn(compare([plain_run(tmp_path / "a", (0.5, 0.1))]), 80)
    assert "accuracy" in text.split("─")[0]
    assert "oracle" not in text
    assert "λ" not in text


def test_a_grid_without_one_half_is_not_called_one_half(tmp_path: Path) -> None:
    run = mixing_run(tmp_path / "a", [(0.9, 0.1)] * 5, [(0.9, 0.1)] * 2)
    results = read_json(run.summary_file)
    results["readings"]["fixed"]["lam"] = 0.0
    write_json(run.summary_file, results)
    text = drawn(compare([run]), 80)
    assert "λ = 0" in text.split("─")[0]
    assert "λ = 0.5" not in text


def test_what_went_wrong_is_said(tmp_path: Path) -> None:
    run = plain_run(tmp_path / "a", (0.5, 0.1))
    run.write_info(run.info() | {"status": "stopped"})
    write_json(run.summary_file, read_json(run.summary_file) | {"diverged_updates": 5, "silent_clients": 3})
    late = unfinished_run(tmp_path / "late", run.config() | {"seed": 1}, "FedAvg")
    text = " ".join(drawn(compare([run, late]), 80).split())
    assert "FedAvg: 1 of 1 runs stopped before the last round." in text
    assert "5 client updates were not finite" in text
    assert "FedAvg: the networks of 3 of 20 clients answer nothing" in text
    assert "Without results yet: late (running)." in text


def test_brackets_in_names_are_text(tmp_path: Path) -> None:
    text = drawn(compare([plain_run(tmp_path / "a", (0.5, 0.1), title="[red]A[/red]")]), 80)
    assert "[red]A[/red]" in text


def test_a_long_name_is_folded_and_not_cut(tmp_path: Path) -> None:
    name = "a-method-with-a-very-long-name-that-no-table-has-room-for"
    readings = [(0.9, 0.1)] * 5
    runs = [plain_run(tmp_path / "a", (0.5, 0.1), title=name), mixing_run(tmp_path / "b", readings, readings[:3])]
    lines = drawn(compare(runs), 80).splitlines()
    assert max(cell_len(line) for line in lines) <= 80
    start = next(i for i, line in enumerate(lines) if line.startswith("a-m"))
    assert "".join(line.split()[0] for line in lines[start : start + 8] if line.strip()).startswith(name)
