"""The whole benchmark: every case that was asked for, and what is measured once."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import torch

from superfed.bench.case import vector_model
from superfed.bench.cores import Several, several_threads, several_workers, usable_cores
from superfed.bench.measure import Effort, measure
from superfed.bench.methods import METHODS
from superfed.bench.networks import NETWORKS
from superfed.bench.rates import matmul_rate
from superfed.bench.report import LeftOut, Of, Report, Row
from superfed.bench.whole_run import whole_run
from superfed.engine.precision import Precision
from superfed.experiments.provenance import hardware, installed_version, versions

MAIN = "superfed"


@dataclass(frozen=True)
class Plan:
    """What is to be measured, by name, and where."""

    methods: Sequence[str]
    networks: Sequence[str]
    lanes: Sequence[int]
    device: torch.device
    effort: Effort
    precision: Precision = "float32"
    until: float = float("inf")
    """By the monotonic clock: what would begin later is left out."""

    @property
    def cases(self) -> list[tuple[Of, int]]:
        every = product(self.networks, self.methods, self.lanes)
        return [(of(method, network), lanes) for network, method, lanes in every]

    @property
    def aside(self) -> Of:
        """What several cores and a whole run are measured on."""
        return of(self.methods[0] if self.methods and MAIN not in self.methods else MAIN, self.networks[0])


def of(method: str, network: str) -> Of:
    return Of(method, METHODS[method].title, network)


Tell = Callable[[str, Row | None], None]
"""Is told what comes next; with a row, what was found last."""


def run_suite(plan: Plan, tell: Tell) -> Report:
    machine = hardware(plan.device) | _more_hardware()
    rows: list[Row] = []
    left_out: list[LeftOut] = []
    for case, lanes in plan.cases:
        if time.monotonic() >= plan.until:
            left_out.append(LeftOut(case, lanes, "no time was left for it"))
            continue
        tell(f"{case.title} on {case.network}, {lanes} lanes", None)
        try:
            rows.append(_row(case, lanes, plan))
            tell("", rows[-1])
        except torch.OutOfMemoryError:
            left_out.append(LeftOut(case, lanes, "the device's memory did not suffice"))
    aside = plan.aside
    tell(f"several cores, {aside.title} on {aside.network}", None)
    workers, threads = _several(plan) if plan.device.type == "cpu" else (None, None)
    tell(f"a whole run, {aside.title} on two_nn", None)
    return Report(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=versions() | {"numba": installed_version("numba")},
        hardware=machine,
        seconds_per_case=plan.effort.seconds,
        turns=plan.effort.turns,
        matmul_flops_per_s=matmul_rate(plan.device, plan.precision),
        rows=rows,
        left_out=left_out,
        aside=aside,
        workers=workers,
        threads=threads,
        whole_run=whole_run(METHODS[aside.method], plan.device, plan.effort),
        precision=plan.precision,
    )


def _row(case: Of, lanes: int, plan: Plan) -> Row:
    network = NETWORKS[case.network]
    found = measure(METHODS[case.method], network, lanes, plan.device, plan.effort, plan.precision)
    return Row(case, vector_model(network, torch.float32).size, network.batch_size, found)


def _several(plan: Plan) -> tuple[Several | None, Several | None]:
    method, network = METHODS[plan.aside.method], NETWORKS[plan.aside.network]
    return several_workers(method, network, plan.effort), several_threads(method, network, plan.effort)


def _more_hardware() -> dict[str, Any]:
    """Which processor, and how busy it is: a shared machine's numbers are worth less."""
    return {"cpu": _cpu_name(), "usable_cores": usable_cores(), "load_average": round(os.getloadavg()[0], 1)}


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
