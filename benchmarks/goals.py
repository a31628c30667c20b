"""The cases of docs/benchmark.md for a GPU: python benchmarks/goals.py float32 --json FILE [--seconds S] [--networks A,B]

Fewer than ``superfed bench`` would take, which is every method with every network at three numbers of lanes. With
``--within S`` no case is begun after so many seconds, and the rest is left out; a second call with ``--not-in FILE`` measures
what is not in the first one's file.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import torch

from superfed.bench.measure import Effort
from superfed.bench.methods import METHODS
from superfed.bench.report import Of, Report, Row
from superfed.bench.suite import Plan, of, run_suite
from superfed.engine.precision import Precision

Case = tuple[str, str, int]
"""Method, network and lanes."""
BEGAN = time.monotonic()
OTHERS = [name for name in METHODS if name not in ("superfed", "fedavg")]
MAIN = [
    (method, network, lanes)
    for network in ("two_nn", "two_cnn")
    for method in ("superfed", "fedavg")
    for lanes in (5, 200)
]
LARGE = [
    ("superfed", "resnet", 50),
    ("fedavg", "resnet", 50),
    ("superfed", "mobilenet", 50),
    ("superfed", "stacked_lstm", 50),
]
FURTHER = [("superfed", "vgg", 50)] + [
    ("superfed", network, 5) for network in ("stacked_lstm", "mobilenet", "resnet", "vgg")
]
"""So that plans can say how long the networks take of which a round has few lanes."""
CASES: dict[str, list[Case]] = {
    "float32": [
        *MAIN,
        *LARGE,
        *((method, network, 50) for network in ("two_cnn", "two_nn") for method in OTHERS),
        *FURTHER,
    ],
    "tf32": [*MAIN[4:], *LARGE],
    "bf16": [*MAIN[4:], *LARGE],
}


@dataclass(frozen=True)
class Chosen(Plan):
    only: tuple[str, ...] = ()
    measured: frozenset[Case] = frozenset()

    @property
    def cases(self) -> list[tuple[Of, int]]:
        chosen = [case for case in CASES[self.precision] if not self.only or case[1] in self.only]
        return [(of(*case[:2]), case[2]) for case in chosen if case not in self.measured]


def tell(what: str, row: Row | None) -> None:
    if row is not None:
        found = row.found
        rates = f"{found.ours:,.0f}/s, {found.ratio:,.0f} x, {found.steps} steps, first call {found.first_call_s:.1f} s"
        print(f"{time.monotonic() - BEGAN:4.0f} s: {row.of.title} {row.of.network} {found.lanes}: {rates}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("precision", choices=get_args(Precision))
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--networks", type=lambda names: tuple(names.split(",")), default=())
    parser.add_argument("--within", type=float, default=float("inf"))
    parser.add_argument(
        "--not-in", type=Path, action="append", default=[], metavar="FILE", help="what it holds is left out"
    )
    given = parser.parse_args()
    effort = Effort(given.seconds, 3)
    gpu = torch.device("cuda")
    rows = [row for file in given.not_in for row in Report.read(file).rows]
    measured = frozenset((row.of.method, row.of.network, row.found.lanes) for row in rows)
    plan = Chosen([], ["two_nn"], [], gpu, effort, given.precision, BEGAN + given.within, given.networks, measured)
    run_suite(plan, tell).write(given.json)


if __name__ == "__main__":
    main()
