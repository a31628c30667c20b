"""A real Ray cluster of two nodes on this machine, for the tests that need one.

It lives in a process of its own, ``python -m support.two_nodes``, which takes a word a line and answers each with a line.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STORE = 80 * 2**20
QUICK = {"health_check_initial_delay_ms": 500, "health_check_period_ms": 300, "health_check_failure_threshold": 3}
"""A node that is gone is found to be in a second, not in sixteen."""


class TwoNodes:
    """The first computes too, and is the one that programs reach; the other is the one that may be killed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.address = self._answer()

    def kill_other(self) -> None:
        """As if its plug was pulled."""
        self._ask("kill")

    def join(self) -> None:
        """Another one instead of it."""
        self._ask("join")

    def _ask(self, word: str) -> None:
        assert self._process.stdin is not None
        print(word, file=self._process.stdin, flush=True)
        assert self._answer() == word

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextmanager
def two_nodes() -> Iterator[TwoNodes]:
    with subprocess.Popen(
        [sys.executable, "-m", "support.two_nodes"],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"RAY_USAGE_STATS_ENABLED": "0", "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield TwoNodes(process)
        process.communicate(timeout=60)  # closes its input, which ends it


def main() -> None:
    from ray.cluster_utils import Cluster

    answers, sys.stdout = sys.stdout, sys.stderr  # Ray talks
    head = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False, "_system_config": QUICK}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    other = cluster.add_node(num_cpus=1, object_store_memory=STORE)
    print(cluster.address, file=answers, flush=True)
    for line in sys.stdin:
        if line.strip() == "kill":
            cluster.remove_node(other, allow_graceful=False)  # type: ignore[no-untyped-call]
        else:
            other = cluster.add_node(num_cpus=1, object_store_memory=STORE)
        print(line.strip(), file=answers, flush=True)
    cluster.shutdown()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
