"""Does the tenth round of a million clients cost what it costs of a thousand?

    python benchmarks/million_clients.py [TURNS]

Trains SuPerFed on the synthetic task, 100 clients in each of ten rounds, states on disk: a thousand and a million clients
by turns, each time in a fresh process. Of the tenth round it reports the seconds and the processor's, of the process its
memory peak; also the time until the first round begins and that of the checkpoints. Then a run is killed in its seventh
round and resumed, which must end in the same bytes, and the program is run as a user calls it. Kept in
results/million-clients.json.
"""

import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from superfed.experiments.load import load_config
from superfed.experiments.observer import Silent
from superfed.experiments.provenance import hardware, versions
from superfed.experiments.runner import resume, start

KEPT = Path(__file__).parent.parent / "results" / "million-clients.json"
COUNTS = (1_000, 1_000_000)
ROUNDS = 10
CHANGES = [
    f"training.rounds={ROUNDS}",
    "training.clients_per_round=100",
    f"evaluation.every={ROUNDS}",
    "engine.checkpoint_every=5",
    "engine.workers=1",
]
LIMIT = 1.3


class Clock(Silent):
    """Notes when each round ended, and may die like a killed process in the middle of one."""

    def __init__(self, dies_in_round: int | None = None) -> None:
        self.began: tuple[float, float] = (0.0, 0.0)
        self.rounds: list[tuple[float, float]] = []
        self._dies = dies_in_round

    def lane_done(self, run: int) -> None:
        if not self.rounds and self.began == (0.0, 0.0):
            self.began = _now()
        if self._dies is not None and len(self.rounds) == self._dies - 1:
            os.kill(os.getpid(), signal.SIGKILL)

    def round_done(self, run: int) -> None:
        self.rounds.append(_now())


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def child(words: list[str]) -> None:
    """One process's part: ``run K OUT``, ``die K OUT`` or ``resume K OUT``."""
    what, count, out = words[0], int(words[1]), Path(words[2])
    imported = time.perf_counter()
    clock = Clock(7 if what == "die" else None)
    if what == "resume":
        resume(out, observer=clock)
    else:
        start(load_config("scale", [f"data.num_clients={count}", *CHANGES]), out, observer=clock)
    (timing,) = out.glob("*/timing.json")
    last, before = clock.rounds[-1], clock.rounds[-2]
    found = {
        "clients": count,
        "start_s": clock.began[0] - imported,
        "round_s": last[0] - before[0],
        "round_cpu_s": last[1] - before[1],
        "checkpoints_s": json.loads(timing.read_text())["checkpoints"],
        "client_files": len(list(out.glob("*/checkpoints/clients/*/*"))),
        "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "whole_s": time.perf_counter() - imported,
    }
    print(json.dumps(found))


def process(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(__file__)), "child", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def measured(count: int, out: Path) -> dict[str, Any]:
    done = process("run", count, out)
    if done.returncode != 0:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    aside = ("timing.json", "experiment.json", ".lock")
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in aside)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def goes_on(folder: Path, whole: Path) -> bool:
    """Whether a run of a million clients that was killed in its seventh round ends in the bytes of one that was not."""
    killed = process("die", COUNTS[-1], folder)
    resumed = process("resume", COUNTS[-1], folder)
    return (killed.returncode, resumed.returncode) == (-signal.SIGKILL, 0) and contents(folder) == contents(whole)


def as_a_user(out: Path) -> float:
    """Seconds of the program itself from beginning to end: training, final evaluation, table and page."""
    words = ["run", "scale", f"data.num_clients={COUNTS[-1]}", *CHANGES, "--out", str(out)]
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "superfed.cli.main", *words], stdout=subprocess.DEVNULL, check=True)
    if not (out / "report.html").exists():
        sys.exit("there is no page")
    return time.perf_counter() - began


def main(turns: int) -> None:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(turns):
            for count in COUNTS:
                rows.append(measured(count, Path(folder, f"{turn}-{count}")))
                print(json.dumps(rows[-1]), flush=True)
        same = goes_on(Path(folder, "killed"), Path(folder, f"0-{COUNTS[-1]}"))
        program = as_a_user(Path(folder, "program"))
    names = [name for name in rows[0] if name != "clients"]
    medians = {
        str(count): {name: statistics.median(row[name] for row in rows if row["clients"] == count) for name in names}
        for count in COUNTS
    }
    few, many = medians.values()
    ratios = {name: many[name] / few[name] for name in names if name != "client_files"}
    import torch

    found = {
        "format": 1,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "hardware": hardware(torch.device("cpu")) | {"load_average": os.getloadavg()[0]},
        "settings": CHANGES,
        "turns": turns,
        "medians": medians,
        "ratios": ratios,
        "killed_and_resumed_is_the_same": same,
        "program_s": program,
        "rows": rows,
    }
    KEPT.write_text(json.dumps(found, indent=1) + "\n")
    for name in names:
        told = f"{ratios[name]:6.2f}" if name in ratios else ""
        print(f"{name:>14} {few[name]:10.3f} {many[name]:10.3f} {told}")
    print(f"killed and resumed ends in the same bytes: {same}; the program itself took {program:.0f} s")
    wrong = [name for name in ("round_s", "round_cpu_s", "peak_rss_mib") if ratios[name] > LIMIT]
    if wrong or not same:
        sys.exit(f"above {LIMIT}: {', '.join(wrong)}" if wrong else "the resumed run differs")


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
