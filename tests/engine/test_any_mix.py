"""Whatever runs are computed together, each has what it has alone: other methods, clients, lengths, seeds beside it."""

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from superfed.core.aggregation import AGGREGATIONS
from superfed.core.algorithm import Algorithm
from superfed.core.privacy import Privacy
from superfed.engine.batched import MOST_LANES
from superfed.engine.evaluate import lambda_grid
from superfed.engine.executors import Batched, OneAtATime
from superfed.engine.simulation import Run, evaluate
from superfed.engine.task import Task
from superfed.metrics.scores import BINS
from support.toys import CPU, METHODS, assert_same, go_on, toy_data, toy_task

LAMBDAS = lambda_grid(3)


@st.composite
def methods(draw: st.DrawFn) -> Algorithm:
    """Any, with phases of any length."""
    method: Any = METHODS[draw(st.sampled_from(sorted(METHODS)))]
    lengths = [f.name for f in fields(method) if f.name == "epochs" or f.name.endswith("_epochs")]
    changed: Algorithm = replace(method, **{name: draw(st.integers(1, 3)) for name in lengths})
    return changed


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    """Small, and unlike its neighbours in everything that two runs of one job may differ in."""
    sizes = draw(st.lists(st.integers(1, 14), min_size=1, max_size=6))
    newcomers = draw(st.sampled_from([0.0, 0.3]))
    task = toy_task(
        draw(methods()),
        seed=draw(st.integers(0, 2)),
        data=toy_data(sizes, seed=draw(st.integers(0, 2))),
        rounds=draw(st.integers(1, 3)),
        clients_per_round=draw(st.integers(1, len(sizes) - round(newcomers * len(sizes)))),
        local_epochs=draw(st.integers(1, 2)),
        batch_size=draw(st.sampled_from([3, 5])),
        lr=draw(st.sampled_from([0.1, 0.03])),
    )
    aggregation = AGGREGATIONS[draw(st.sampled_from(["mean", "mean", "median", "clipped_mean"]))]()
    privacy = draw(st.sampled_from([None, None, Privacy(clip=0.5, noise=0.1)]))
    return replace(task, newcomers=newcomers, aggregation=aggregation, privacy=privacy)


@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    mix=st.lists(tasks(), min_size=2, max_size=4),
    max_lanes=st.sampled_from([MOST_LANES, 3]),
    budget=st.sampled_from([2**33, 2**16]),
)
def test_runs_together_have_what_they_have_alone(mix: list[Task], max_lanes: int, budget: int) -> None:
    together, alone = ([Run(task) for task in mix] for _ in range(2))
    batched = Batched(CPU, max_lanes=max_lanes)
    batched.budget = budget
    go_on(together, batched)
    for run in alone:
        go_on([run], OneAtATime(CPU))
    for ours, theirs in zip(together, alone, strict=True):
        assert_same(ours, theirs, 1e-9)
    everyone = [range(task.data.num_clients) for task in mix]
    for epochs in (0, 1):
        found = evaluate(together, everyone, batched, LAMBDAS, epochs=epochs)
        for run, clients, scores in zip(alone, everyone, found, strict=True):
            (expected,) = evaluate([run], [clients], OneAtATime(CPU), LAMBDAS, epochs=epochs)
            for one, other in zip(scores, expected, strict=True):
                for name, values in other.test.items():
                    if name != BINS:
                        assert one.test[name] == pytest.approx(values, abs=1e-9, nan_ok=True), name
