"""Does a round cost what its clients cost, whatever their number?

    python benchmarks/clients.py [K …]

Trains SuPerFed on the synthetic task with 20 clients a round, for each K in turns within one process, and prints the
median time of a round and the memory that the data and the clients' states hold. Machines are noisy: read the ratios.
"""

import statistics
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

from superfed.algorithms import SuPerFed
from superfed.core.state import num_bytes
from superfed.core.vector import VectorModel
from superfed.data.dealt import SyntheticFederation
from superfed.data.synthetic import Synthetic
from superfed.engine.clients import DiskStates, MemoryStates
from superfed.engine.executors import make_executor
from superfed.engine.simulation import Run, advance
from superfed.engine.task import Schedule, Task
from superfed.models import TwoNN

ROUNDS = 30
COHORT = 20


def main(counts: list[int]) -> None:
    model = VectorModel(TwoNN().builder((32,), 10))
    schedule = Schedule(rounds=ROUNDS, clients_per_round=COHORT, local_epochs=2, lr=0.05)
    print(
        f"{'clients':>10}  {'states':>6}  {'ms a round':>10}  {'ratio':>5}  {'data KiB':>8}  {'states MiB':>10}  sampled"
    )
    for where in ("memory", "disk"):
        with tempfile.TemporaryDirectory() as folder:
            tracemalloc.start()
            runs, data_kib = [], []
            for count in counts:
                before = tracemalloc.get_traced_memory()[0]
                task = Task(
                    SuPerFed(start=0), model, SyntheticFederation(Synthetic(samples_per_client=40), count), schedule
                )
                data_kib.append((tracemalloc.get_traced_memory()[0] - before) / 1024)
                states = MemoryStates() if where == "memory" else DiskStates(Path(folder, str(count)))
                runs.append(Run(task, states=states))
            tracemalloc.stop()
            executors = [make_executor([run.task], "cpu") for run in runs]
            seconds: list[list[float]] = [[] for _ in runs]
            for _ in range(ROUNDS):
                for run, executor, times in zip(runs, executors, seconds, strict=True):  # noise falls on all alike
                    began = time.perf_counter()
                    list(advance([run], executor))
                    times.append(time.perf_counter() - began)
            for executor in executors:
                executor.close()
            for run, times, kib in zip(runs, seconds, data_kib, strict=True):
                median, first = statistics.median(times), statistics.median(seconds[0])
                sampled = {client for record in run.records for client in record.cohort}
                held = sum(num_bytes(run.states.get(c) or {}) for c in sampled) / 2**20 if where == "memory" else 0.0
                print(
                    f"{run.task.data.num_clients:>10,}  {where:>6}  {median * 1e3:>10.1f}  {median / first:>5.2f}  "
                    f"{kib:>8.1f}  {held:>10.1f}  {len(sampled):>7}"
                )


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [100, 100_000])
