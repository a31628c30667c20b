"""The comparison as JSON: valid for every reader, not only for Python's."""

import json
import math
from pathlib import Path

import pytest
from report_folders import demo, plain_run, unfinished_run

from superfed.report.comparison import as_json, compare


def strictly(text: str) -> object:
    def refuse(word: str) -> float:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_says_what_the_comparison_says(tmp_path: Path) -> None:
    runs = demo(tmp_path)
    comparison = compare([*runs, unfinished_run(tmp_path / "late", runs[0].config() | {"seed": 9}, "FedAvg")])
    plain = as_json(comparison)
    assert strictly(json.dumps(plain)) == plain  # no tuples, no other types
    assert plain["headline"] == "validated"
    assert [row["title"] for row in plain["rows"]] == ["SuPerFed-MM", "FedAvg"]
    best = plain["rows"][0]
    assert best["readings"]["validated"]["mean"] == pytest.approx(0.92)
    assert best["readings"]["best_shared"]["lam"] == [1.0, 1.0, 1.0]
    assert best["seeds"] == [0, 1, 2]
    assert best["runs"][2] == {"name": "superfed-mm-seed2", "path": str(tmp_path / "superfed-mm-seed2")}
    assert [point["lam"] for point in best["by_lambda"]] == [0.0, 0.5, 1.0]
    assert plain["rows"][1]["by_lambda"][0]["lam"] is None
    assert plain["unfinished"] == [{"name": "late", "status": "running", "rounds": None}]


def test_what_is_not_a_number_becomes_null(tmp_path: Path) -> None:
    runs = [plain_run(tmp_path / "a", (math.nan, math.nan), 0), plain_run(tmp_path / "b", (0.5, math.inf), 1)]
    row = as_json(compare(runs))["rows"][0]
    assert "NaN" not in json.dumps(row)
    assert "Infinity" not in json.dumps(row)
    assert row["readings"]["validated"] == {"mean": None, "std": None, "spread": None, "lam": None}
    assert row["loss"] is None
