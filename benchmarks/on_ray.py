"""What Ray costs: groups of runs as Ray tasks, beside the same runs without it, in turns.

    python benchmarks/on_ray.py --minutes 1 --turns 3 --json on-ray.json

Both sides compute one client at a time on as many cores: here by the engine's workers, there by tasks. A first run on the
cluster, of one round, shows what it takes to start it, to check its machines and to import everything; runs that have next
to nothing to compute show what each later task costs. Ray would give its workers a niceness of 15, which makes them wait for
anything else that the machine does; here they get none.
"""

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from superfed.deploy.ray.place import on_ray
from superfed.deploy.ray.stores.shared import Shared
from superfed.experiments.places import Here, Place
from superfed.experiments.provenance import versions
from superfed.experiments.runner import start

CORES = 2
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 (so Ray has it)


def settings(runs: int, rounds: int, samples: int = 600) -> dict[str, Any]:
    """SuPerFed on a network of MNIST's size, each run with its own seed."""
    return {
        "name": "on-ray",
        "seed": list(range(runs)),
        "algorithm": {"name": "superfed", "nu": 1.0},
        "data": {
            "dataset": {"name": "synthetic", "dim": 784, "num_classes": 10, "samples_per_client": samples},
            "num_clients": 50,
        },
        "model": {"name": "two_nn", "width": 200},
        "training": {"rounds": rounds, "clients_per_round": 5, "local_epochs": 2},
        "evaluation": {"every": 1000, "clients": 1, "final_clients": 1},
        "engine": {"device": "cpu", "workers": CORES},
    }


def seconds(wanted: dict[str, Any], place: Place) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        start(wanted, Path(folder) / "out", place=place)
        return time.perf_counter() - began


def measure(minutes: float, turns: int) -> dict[str, Any]:
    few, many = (seconds(settings(CORES, rounds), Here()) for rounds in (3, 23))
    rounds = max(round(20 * 60 * minutes / (many - few)), 1)
    group = settings(CORES, rounds)
    told: dict[str, Any] = {"runs": CORES, "rounds": rounds, "here": [], "there": [], "ratios": []}
    with on_ray("local", Shared()) as ray:
        told["first"] = seconds(settings(CORES, 1), ray)
        few, many = (seconds(settings(count, 1, samples=10), ray) for count in (CORES, 10 * CORES))
        told["each task"] = (many - few) / 9
        for _ in range(turns):
            here, there = seconds(group, Here()), seconds(group, ray)
            told["here"].append(here)
            told["there"].append(there)
            told["ratios"].append(there / here)
            print(f"here {here:.1f} s, as Ray tasks {there:.1f} s: {there / here:.3f}", flush=True)
    told["ratio"] = statistics.median(told["ratios"])
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long a group takes without Ray")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    told = measure(given.minutes, given.turns)
    told |= {"versions": versions(), "machine": platform.processor() or platform.machine(), "cores": CORES}
    print(f"median {told['ratio']:.3f}; a first task {told['first']:.1f} s, later ones {told['each task']:.2f} s each")
    if given.json is not None:
        given.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
