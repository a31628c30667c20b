"""A GPU's time for a packed group is what the engine's stacks would compute, and its constants are those that were seen."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from superfed.engine.segments import fewest_lanes, segments, sizes_of
from superfed.reproduce.cells import PlannedRun, cells
from superfed.reproduce.gpu_time import (
    CHECKPOINT_SHARE,
    EVALUATION_SHARE,
    compile_seconds,
    run_seconds,
    spread_seconds,
    update_seconds,
)
from superfed.reproduce.plan import Cost, Group
from superfed.reproduce.rates import NOT_COMPILED, rate

ROOT = Path(__file__).parents[2]
PARAMETERS = 1_000_000  # so that stacks shrink down to 4 lanes


def group(*rounds: list[list[int]], network: str = "two_nn") -> Group:
    tables = [np.array(one, dtype=np.int32) for one in rounds]
    costs = tuple(Cost(int(table.sum()), table.shape[1], 0, table) for table in tables)
    runs = tuple(PlannedRun(cell.config(), (cell,)) for cell in cells("table1", "smoke")[:1] * len(costs))
    return Group("FedAvg", network, 10, PARAMETERS, 1, runs, costs, recurrent=False, precision="float32")


def test_updates_take_what_the_engines_segments_do() -> None:
    rng = np.random.default_rng(0)
    given = group(*(rng.integers(1, 900, (length, 7)).tolist() for length in (6, 4, 6)))
    found = rate("h200", "two_nn", PARAMETERS, "float32")
    seconds = 0.0
    for round in range(6):
        lanes = [step for cost in given.costs if round < len(cost.rounds) for step in cost.rounds[round].tolist()]
        for part in segments(sorted(lanes, reverse=True), sizes_of(21, fewest_lanes(PARAMETERS, False))):
            seconds += part.steps * part.lanes / found.at(part.lanes)
    assert update_seconds(given, [0, 1, 2]) == pytest.approx(seconds, rel=0.01)


def test_equal_lanes_take_their_steps_at_their_rate() -> None:
    given = group([[100] * 5] * 20)
    found = rate("h200", "two_nn", PARAMETERS, "float32")
    assert update_seconds(given, [0]) == pytest.approx(20 * 500 / found.at(5))
    assert update_seconds(replace(given, gradients=5), [0]) == pytest.approx(5 * 20 * 500 / found.at(5))


def test_together_is_quicker_than_apart_and_longer_than_one() -> None:
    given = group([[100] * 5] * 20, [[90] * 5] * 20)
    one, other, both = (update_seconds(given, places) for places in ([0], [1], [0, 1]))
    assert max(one, other) < both < one + other


def test_more_lanes_than_a_stack_takes_are_several_stacks() -> None:
    many = group(*([[100] * 5] * 3 for _ in range(206)))  # 1,030 lanes: three stacks
    found = rate("h200", "two_nn", PARAMETERS, "float32")
    assert update_seconds(many, range(206)) == pytest.approx(3 * 100 * (1030 + 3 * found.half_lanes) / found.per_second)


def test_short_jobs_are_not_compiled_and_take_longer() -> None:
    short, long = group([[100] * 5] * 20), group([[100] * 5] * 2000)
    around = 1 + EVALUATION_SHARE + CHECKPOINT_SHARE
    assert (compile_seconds(short, [0]), compile_seconds(long, [0])) == (0.0, 30.0)
    assert compile_seconds(replace(short, gradients=20), [0]) == 30.0  # of 10,000 steps
    assert run_seconds(short, [0]) == pytest.approx(NOT_COMPILED["h200"] * update_seconds(short, [0]) * around)
    assert run_seconds(long, [0]) == pytest.approx(update_seconds(long, [0]) * around)


def test_a_run_that_is_spread_takes_as_long_as_its_longest_clients() -> None:
    given = group([[900_000, 10, 10, 10, 10], [10, 10, 10, 10, 500_000]])
    found = rate("h200", "two_nn", PARAMETERS, "float32")
    around = 1 + EVALUATION_SHARE + CHECKPOINT_SHARE
    assert spread_seconds(given, 0) == pytest.approx(1_400_000 / found.at(1) * around)


def test_constants_are_those_that_were_seen() -> None:
    seen = json.loads((ROOT / "benchmarks" / "results" / "h200-float32-others.json").read_text())["whole_run"]
    around = (seen["total_s"] - seen["updates_s"] - seen["checkpoints_s"]) / seen["updates_s"]
    assert pytest.approx(around, abs=0.001) == EVALUATION_SHARE
    steps = json.loads((ROOT / "results" / "h200-steps.json").read_text())["steps"]
    nn = [one for one in steps if (one["method"], one["network"], one["lanes"]) == ("SuPerFed-MM", "two_nn", 5)]
    by_how = {one["how"]: one["rate"] for one in nn}
    assert by_how["compiled"] / by_how["graph, not compiled"] == pytest.approx(NOT_COMPILED["h200"], rel=0.05)
