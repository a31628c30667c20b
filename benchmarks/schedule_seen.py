"""Is the simulated schedule what happens? Runs of different lengths on a local cluster, and the same on paper.

    python benchmarks/schedule_seen.py [--json FILE]

The simulator is given what each task computed for, as the runs' folders have it, and what starting costs; it says when all
would be done.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

from on_ray import CORES, settings
from superfed.deploy.ray.place import on_ray
from superfed.deploy.ray.schedule import Job, Overheads, simulate
from superfed.deploy.ray.stores.shared import Shared
from superfed.experiments.runner import start
from superfed.store.files import read_json
from superfed.store.layout import find_runs

ROUNDS = [60, 50, 40, 30, 25, 20, 15, 10, 5]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    wanted = settings(1, 1)
    wanted["training"]["rounds"] = ROUNDS
    with tempfile.TemporaryDirectory() as folder, on_ray("local", Shared()) as ray:
        start(settings(CORES, 1), Path(folder) / "first", place=ray)  # the cluster is there, and so are its processes
        began = time.perf_counter()
        out = start(wanted, Path(folder) / "out", place=ray)
        seen = time.perf_counter() - began
        computed = [sum(read_json(run.timing_file).values()) for run in find_runs(out)]
    jobs = [Job(f"{rounds} rounds", seconds) for rounds, seconds in zip(ROUNDS, computed, strict=True)]
    schedule = simulate(jobs, CORES, overheads=Overheads(first_on_node=0.0))
    told = {"tasks": computed, "seen": seen, "simulated": schedule.makespan, "ratio": schedule.makespan / seen}
    print(f"seen {seen:.1f} s, on paper {schedule.makespan:.1f} s, {told['ratio']:.2f} of it")
    if given.json is not None:
        given.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
