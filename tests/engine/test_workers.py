"""Worker processes: they end with their parent, and say what went wrong."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import nn

from superfed.core.vector import VectorModel
from superfed.engine.executors import OneAtATime, make_executor
from superfed.engine.task import Task
from superfed.engine.workers import WorkerDied, WorkerFailed
from support.toys import METHODS, assert_same, toy_data, toy_task, train, workers


def test_closing_ends_every_process() -> None:
    pool = workers([toy_task(METHODS["fedavg"])], 2)
    processes = list(pool._processes)
    pool.close()
    assert not any(process.is_alive() for process in processes)


def test_a_killed_worker_is_reported_and_the_others_end() -> None:
    task = toy_task(METHODS["fedavg"])
    pool = workers([task], 2)
    processes = list(pool._processes)
    os.kill(pool._processes[0].pid or 0, signal.SIGKILL)
    with pytest.raises(WorkerDied, match=r"ended unexpectedly with signal SIGKILL .*memory ran out"):
        train([task], pool)
    assert not any(process.is_alive() for process in processes)


class Fragile(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 3).double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(x) == 2:
            raise RuntimeError("two samples are one too few")
        scores: torch.Tensor = self.layer(x)
        return scores


def test_an_error_inside_a_worker_keeps_its_traceback() -> None:
    task = toy_task(METHODS["fedavg"], data=toy_data((7, 7, 7)))  # batches of 5 and 2
    task = Task(task.algorithm, VectorModel(Fragile), task.data, task.schedule)
    pool = workers([task], 2)
    with pytest.raises(RuntimeError, match=r"(?s)a worker failed:.*two samples are one too few"):
        train([task], pool)


def test_after_an_error_the_next_lanes_get_new_workers() -> None:
    sick = toy_task(METHODS["fedavg"], data=toy_data((7, 7, 7)))
    sick = Task(sick.algorithm, VectorModel(Fragile), sick.data, sick.schedule)
    well = toy_task(METHODS["superfed"])
    pool = workers([sick, well], 2)
    with pytest.raises(WorkerFailed) as raised:
        train([sick], pool)
    assert raised.value.reason == "RuntimeError: two samples are one too few"
    assert_same(train([well])[0], train([well], pool)[0])
    pool.close()


def test_workers_die_with_a_killed_parent(tmp_path: Path) -> None:
    """Even when it had no chance to say goodbye."""
    program = """
import sys, time
sys.path[:0] = sys.argv[2:]
from support.toys import METHODS, toy_task
from superfed.engine.workers import Workers
pool = Workers([toy_task(METHODS["fedavg"])], 2)
open(sys.argv[1], "w").write(" ".join(str(p.pid) for p in pool._processes))
time.sleep(60)
"""
    pids = tmp_path / "pids"
    folder = str(Path(__file__).parent.parent)
    parent = subprocess.Popen([sys.executable, "-c", program, str(pids), folder])
    try:
        for _ in range(600):
            if pids.exists() and len(pids.read_text().split()) == 2:
                break
            time.sleep(0.1)
        children = [int(pid) for pid in pids.read_text().split()]
    finally:
        parent.kill()
        parent.wait()
    for _ in range(100):
        if not any(alive(pid) for pid in children):
            break
        time.sleep(0.1)
    assert not any(alive(pid) for pid in children)


def alive(pid: int) -> bool:
    """Whether the process runs; one that waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def test_one_lane_at_a_time_needs_no_workers() -> None:
    executor = make_executor([toy_task(METHODS["fedavg"], clients_per_round=1)], "cpu", 8)
    assert isinstance(executor, OneAtATime)


def test_threads_are_given_back() -> None:
    before = torch.get_num_threads()
    train([toy_task(METHODS["fedavg"])])
    assert torch.get_num_threads() == before


def test_torchs_random_state_is_left_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train([toy_task(METHODS["superfed"])])
    assert torch.equal(torch.rand(3), expected)
