"""Rows of a comparison: what is averaged, what stays apart, and in which order."""

import math
from pathlib import Path
from typing import Any

import pytest
from report_folders import (
    FEDAVG,
    SUPERFED,
    config,
    demo,
    finished_run,
    metrics,
    mixing_run,
    plain_run,
    unfinished_run,
)

from superfed.core.errors import UserError
from superfed.metrics.readings import FIXED_LAMBDA as STORED_FIXED_LAMBDA
from superfed.metrics.readings import READINGS as STORED_READINGS
from superfed.report.comparison import compare
from superfed.report.readings import FIXED_LAMBDA, NAMES
from superfed.store.files import read_json, write_json
from superfed.store.layout import RunFolder, find_runs
from superfed.store.tables import write_table


def test_readings_have_the_names_the_store_gives_them() -> None:
    assert NAMES == STORED_READINGS
    assert FIXED_LAMBDA == STORED_FIXED_LAMBDA


def test_seeds_are_averaged_and_spread_is_over_their_means(tmp_path: Path) -> None:
    best, plain = compare(demo(tmp_path)).rows
    assert (best.title, best.seeds) == ("SuPerFed-MM", [0, 1, 2])
    assert best.runs == ["superfed-mm-seed0", "superfed-mm-seed1", "superfed-mm-seed2"]
    headline = best.readings["validated"]
    assert headline.mean == pytest.approx(0.92)  # (0.90 + 0.92 + 0.94) / 3
    assert headline.std == pytest.approx(0.12)  # (0.10 + 0.12 + 0.14) / 3
    assert headline.spread == pytest.approx(0.02 * math.sqrt(2 / 3))  # deviations -0.02, 0, 0.02
    assert best.readings["oracle"].mean == pytest.approx(0.95)
    assert (best.worst10, best.top5, best.loss) == pytest.approx((0.46, 0.96, 2.08))
    assert (best.ece, best.mce) == pytest.approx((0.23, 0.92 / 3))
    assert plain.headline.mean == pytest.approx(0.6)
    assert plain.headline.std == pytest.approx(0.25)
    assert plain.headline.spread == pytest.approx(0.1 * math.sqrt(2 / 3))
    assert (best.bytes_up, best.bytes_down, best.never_sampled) == (1e6, 2e6, [2, 2, 2])
    assert best.statuses == {"finished": 3}


def test_lambda_is_kept_where_clients_share_it(tmp_path: Path) -> None:
    best, plain = compare(demo(tmp_path)).rows
    assert best.readings["best_shared"].lam == [1.0, 1.0, 1.0]
    assert best.readings["fixed"].lam == [0.5, 0.5, 0.5]
    assert best.readings["validated"].lam is None
    assert plain.readings["fixed"].lam is None


def test_curve_over_lambda(tmp_path: Path) -> None:
    best, plain = compare(demo(tmp_path)).rows
    assert [point.lam for point in best.by_lambda] == [0.0, 0.5, 1.0]
    assert best.by_lambda[1].mean == pytest.approx(0.91)
    assert best.by_lambda[1].std == pytest.approx(0.12)
    assert best.by_lambda[1].spread == pytest.approx(0.02 * math.sqrt(2 / 3))
    assert best.mixes
    assert [point.lam for point in plain.by_lambda] == [None]
    assert not plain.mixes


@pytest.mark.parametrize("seeds", [(0, 1), (1, 0)])
def test_curve_over_lambda_keeps_what_all_seeds_have(tmp_path: Path, seeds: tuple[int, int]) -> None:
    """One seed may have been evaluated anew on a finer grid."""
    readings = [(0.9, 0.1)] * 5
    coarse = mixing_run(tmp_path / "a", readings, [(0.1, 0), (0.2, 0), (0.3, 0)], seeds[0])
    fine = mixing_run(tmp_path / "b", readings, [(0.5, 0), (0.6, 0), (0.7, 0), (0.8, 0), (0.9, 0)], seeds[1])
    (row,) = compare([coarse, fine]).rows
    assert [point.lam for point in row.by_lambda] == [0.0, 0.5, 1.0]
    assert [point.mean for point in row.by_lambda] == pytest.approx([0.3, 0.45, 0.6])


def test_best_headline_comes_first_and_unknown_last(tmp_path: Path) -> None:
    means = {"low": 0.3, "none": math.nan, "high": 0.9, "middle": 0.6}
    runs = [plain_run(tmp_path / name, (mean, 0.1), title=name) for name, mean in means.items()]
    assert [row.title for row in compare(runs).rows] == ["high", "middle", "low", "none"]


def test_one_seed_has_no_spread(tmp_path: Path) -> None:
    (row,) = compare([plain_run(tmp_path / "only", (0.5, 0.2))]).rows
    assert row.headline.spread is None


def test_variants_of_a_method_are_told_by_what_differs(tmp_path: Path) -> None:
    readings, curve = [(0.9, 0.1)] * 5, [(0.9, 0.1)] * 3
    runs = [mixing_run(tmp_path / f"{nu}-{seed}", readings, curve, seed, nu) for nu in (1.0, 2.0) for seed in (0, 1)]
    runs.append(plain_run(tmp_path / "fedavg", (0.5, 0.1)))
    rows = compare(runs).rows
    assert [(row.title, row.settings, row.seeds) for row in rows] == [
        ("SuPerFed-MM", {"algorithm.nu": 1.0}, [0, 1]),
        ("SuPerFed-MM", {"algorithm.nu": 2.0}, [0, 1]),
        ("FedAvg", {}, [0]),
    ]
    assert [row.label for row in rows] == ["nu=1.0", "nu=2.0", ""]


def test_other_data_is_said_and_its_results_do_not_compete(tmp_path: Path) -> None:
    many = {"dataset": {"name": "digits"}, "num_clients": 50}
    runs = [
        plain_run(tmp_path / "a", (0.9, 0.1), title="A"),
        plain_run(tmp_path / "b", (0.8, 0.1), title="B"),
        plain_run(tmp_path / "c", (0.7, 0.1), title="A", data=many),
        plain_run(tmp_path / "d", (0.6, 0.1), title="B", data=many),
    ]
    comparison = compare(runs)
    assert [row.label for row in comparison.rows] == ["num_clients=20"] * 2 + ["num_clients=50"] * 2
    assert comparison.rows[0].settings == {"data.num_clients": 20}
    assert [row.name for row in comparison.best("validated")] == ["A, num_clients=20", "A, num_clients=50"]


def test_name_description_and_engine_make_no_row_of_their_own(tmp_path: Path) -> None:
    renamed: dict[str, Any] = {"name": "other", "description": "", "engine": {"device": "cuda", "dtype": "float32"}}
    runs = [plain_run(tmp_path / "a", (0.5, 0.1)), plain_run(tmp_path / "b", (0.6, 0.1), seed=1, **renamed)]
    (row,) = compare(runs).rows
    assert row.seeds == [0, 1]


def test_precision_does(tmp_path: Path) -> None:
    precise: dict[str, Any] = {"engine": {"device": "auto", "dtype": "float64"}}
    runs = [plain_run(tmp_path / "a", (0.5, 0.1)), plain_run(tmp_path / "b", (0.6, 0.1), seed=1, **precise)]
    assert [row.label for row in compare(runs).rows] == ["dtype=float64", "dtype=float32"]


def test_a_seed_run_twice_is_no_second_sample(tmp_path: Path) -> None:
    runs = [
        plain_run(tmp_path / folder / f"seed{seed}", (mean, 0.1), seed)
        for folder, seed, mean in (("old", 0, 0.5), ("old", 1, 0.5), ("new", 0, 0.6), ("new", 1, 0.8))
    ]
    rows = compare(runs).rows
    assert [(row.label, row.seeds) for row in rows] == [("folder=new", [0, 1]), ("folder=old", [0, 1])]
    assert rows[0].headline.mean == pytest.approx(0.7)


def test_a_folder_given_twice_counts_once(tmp_path: Path) -> None:
    demo(tmp_path)
    twice = [*find_runs(tmp_path), *find_runs(tmp_path / "fedavg-seed0")]
    assert [row.seeds for row in compare(twice).rows] == [[0, 1, 2], [0, 1, 2]]


def test_unfinished_runs_are_listed_apart(tmp_path: Path) -> None:
    started = unfinished_run(tmp_path / "started", config(FEDAVG, 1), "FedAvg")
    halfway = unfinished_run(tmp_path / "halfway", config(FEDAVG, 2), "FedAvg")
    write_table(halfway.rounds, {"round": [0, 1, 2]})
    broken = finished_run(tmp_path / "broken", config(FEDAVG, 3), "FedAvg", {"readings": {}})
    absent = RunFolder(tmp_path / "absent")
    comparison = compare([started, halfway, broken, absent, plain_run(tmp_path / "done", (0.5, 0.1))])
    assert [row.runs for row in comparison.rows] == [["done"]]
    assert comparison.unfinished == [
        ("started", "running", None),
        ("halfway", "running", 3),
        ("broken", "unreadable", None),
        ("absent", "unreadable", None),
    ]


def test_without_a_finished_run_there_is_a_sentence(tmp_path: Path) -> None:
    started = unfinished_run(tmp_path / "started", config(FEDAVG, 1), "FedAvg")
    write_table(started.rounds, {"round": [0, 1, 2]})
    with pytest.raises(UserError, match=r"^started: has no results to show yet, after 3 rounds"):
        compare([started])
    with pytest.raises(UserError, match=r"none of the 2 runs can be compared: .*absent.*: there is no such file"):
        compare([started, RunFolder(tmp_path / "absent")])
    with pytest.raises(UserError, match=r"^there are no runs to compare$"):
        compare([])


def test_a_stopped_run_has_results_and_is_counted(tmp_path: Path) -> None:
    run = plain_run(tmp_path / "stopped", (0.5, 0.1))
    run.write_info(run.info() | {"status": "stopped", "reason": "every update was not finite"})
    results = read_json(run.summary_file) | {"diverged_updates": 5}
    write_json(run.summary_file, results)
    (row,) = compare([run, plain_run(tmp_path / "whole", (0.5, 0.1), seed=1)]).rows
    assert row.statuses == {"stopped": 1, "finished": 1}
    assert row.diverged_updates == 5


def test_a_missing_number_is_unknown_and_not_zero(tmp_path: Path) -> None:
    """JSON may say null for what is not a number."""
    run = plain_run(tmp_path / "none", (0.5, 0.1))
    results = read_json(run.summary_file)
    results["readings"]["validated"] |= metrics((0.5, 0.1)) | {"loss": {"mean": None, "std": None}}
    write_json(run.summary_file, results)
    (row,) = compare([run]).rows
    assert math.isnan(row.loss)
    assert row.headline.mean == 0.5


def test_methods_with_one_title_and_two_names_stay_apart(tmp_path: Path) -> None:
    results = read_json(plain_run(tmp_path / "a", (0.5, 0.1)).summary_file)
    other = finished_run(tmp_path / "b", config(SUPERFED, 1), "FedAvg", results)
    assert len(compare([RunFolder(tmp_path / "a"), other]).rows) == 2
