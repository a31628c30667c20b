"""Time to the first round and memory peak of shipped configs: python benchmarks/first_round.py NAME …

Each runs one round of SuPerFed in a process of its own, with an empty cache of datasets and then with the one it filled.
The memory peak is that of the whole program with all its workers, what they share counted once (the sum of proportional
set sizes). What was found is also kept in results/first-round.json, for the page of training curves.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KEPT = Path(__file__).parent.parent / "results" / "first-round.json"


def tree(pid: int) -> list[int]:
    """A process and all that come from it."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [pid, *(p for child in children.read_text().split() for p in tree(int(child)))]
    except OSError:
        return []


def memory(pid: int) -> int:
    """Bytes held by a process and its children; shared pages are shared out."""
    total = 0
    for one in tree(pid):
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024


def measured(name: str, cache: Path) -> tuple[float, float, float]:
    """Seconds to the end of the first round, seconds of all, and the memory peak in MiB, of one round of one method."""
    one_round = [
        "algorithm={name: superfed}",
        "training.rounds=1",
        "evaluation.clients=1",
        "evaluation.final_clients=1",
    ]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [sys.executable, "-m", "superfed.cli.main", "run", name, *one_round, "--out", str(out)]
        began = time.perf_counter()
        process = subprocess.Popen(
            command, env=os.environ | {"SUPERFED_CACHE": str(cache)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        peak, first = 0, float("nan")
        while process.poll() is None:
            peak = max(peak, memory(process.pid))
            if first != first and list(out.glob("*/rounds.parquet")):
                first = time.perf_counter() - began
            time.sleep(0.1)
        if process.returncode != 0:
            sys.exit(process.stderr.read().decode() if process.stderr else "it failed")
        return first, time.perf_counter() - began, peak / 2**20


def main() -> None:
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    print(f"{'config':16} {'cache':7} {'first round s':>13} {'all s':>7} {'peak MiB':>9}")
    for name in sys.argv[1:]:
        found = []
        with tempfile.TemporaryDirectory() as cache:
            for state in ("empty", "filled"):
                first, every, peak = measured(name, Path(cache))
                print(f"{name:16} {state:7} {first:13.1f} {every:7.1f} {peak:9.0f}", flush=True)
                found.append([round(first, 1), round(peak)])
        kept[name] = found
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
