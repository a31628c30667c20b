"""How long a GPU takes for runs that are computed together: step by step, as a stack of lanes shrinks while it trains."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from superfed.engine.batched import MOST_LANES, even_parts
from superfed.engine.segments import fewest_lanes, sizes_of
from superfed.experiments.pace import SHARE
from superfed.reproduce.plan import Group
from superfed.reproduce.rates import COMPILE_SECONDS, NOT_COMPILED

EVALUATION_SHARE = 0.085
"""Evaluations and what rounds need around their updates, as a share of the updates' time: ``whole_run`` of
``benchmarks/results/h200-float32-others.json``, 500 rounds of TwoNN with 20 clients evaluated every ten of them. A guess for
other networks."""
CHECKPOINT_SHARE = 1 / SHARE
"""About: after each checkpoint the next one waits until it has taken no more than this; the first and the last do not."""


def compile_seconds(group: Group, places: Sequence[int]) -> float:
    return COMPILE_SECONDS["h200"] if group.compiles(places) else 0.0


def run_seconds(group: Group, places: Sequence[int]) -> float:
    """From the first round to the last evaluation, all compiled that will be."""
    updates = update_seconds(group, places) * (1 if group.compiles(places) else NOT_COMPILED["h200"])
    return updates * (1 + EVALUATION_SHARE + CHECKPOINT_SHARE)


def update_seconds(group: Group, places: Sequence[int]) -> float:
    """Of local updates alone. A step of n lanes takes as long as n client-steps at the rate that n lanes have."""
    found = group.rate("h200")
    lanes = _longest_first([group.costs[place].rounds for place in places])
    lane_steps, fewest = 0.0, fewest_lanes(group.parameters, group.recurrent)
    for part in even_parts(range(lanes.shape[1]), MOST_LANES):
        lane_steps += _lane_steps(lanes[:, part[0] : part[-1] + 1], fewest, found.half_lanes)
    return lane_steps * group.gradients / found.per_second


def _longest_first(rounds: Sequence[NDArray[np.int32]]) -> NDArray[np.int64]:
    """The lanes of all runs in one table, in each round those with most steps first; runs that have ended have none."""
    last = max(len(one) for one in rounds)
    table = np.concatenate([np.pad(one.astype(np.int64), ((0, last - len(one)), (0, 0))) for one in rounds], axis=1)
    return -np.sort(-table, axis=1)


def _lane_steps(table: NDArray[np.int64], fewest: int, half_lanes: float) -> float:
    """All steps times the lanes that take them, those that only wait counted, and ``half_lanes`` that are always there."""
    lanes = table.shape[1]
    sizes = np.array(sizes_of(lanes, fewest))
    computed = sizes[np.searchsorted(sizes, np.arange(1, lanes + 1))]  # with 1, 2, … lanes that have steps left
    steps = -np.diff(table, axis=1, append=0).sum(axis=0)
    return float(steps @ (computed + half_lanes))


def spread_seconds(group: Group, place: int) -> float:
    """Of one run with a GPU for each of its lanes: a round is as long as its longest lane. Exchanging models is not in it."""
    longest = replace(group.costs[place], rounds=group.costs[place].rounds.max(axis=1, keepdims=True))
    return run_seconds(replace(group, costs=(longest,)), [0])
