"""The comparison is fair: in float64 a plain loop and the engine compute the same local update, to rounding."""

from dataclasses import replace

import pytest
import torch
from tiny_networks import TINY

from superfed.bench.case import Case, make_case
from superfed.bench.methods import METHODS
from superfed.bench.networks import NETWORKS
from superfed.bench.plain import LOOPS, plain_update
from superfed.bench.plain.job import Parts
from superfed.core.algorithm import Algorithm
from superfed.engine.executors import Executor, OneAtATime, make_executor, one_thread
from superfed.models import MODELS

CPU = torch.device("cpu")
EXACT = 1e-9


def tiny_case(algorithm: Algorithm, network: str = "two_nn", lanes: int = 2) -> Case:
    """In the second round, so that every state has something in it."""
    case = make_case(algorithm, TINY[network], lanes, batches=3, epochs=2, dtype=torch.float64)
    updates = [update for _, update in sorted(OneAtATime(CPU).update(case.lanes(CPU)), key=lambda item: item[0])]
    uploads = {name: torch.stack([u.upload[name] for u in updates]) for name in updates[0].upload}
    server = case.task.init_server()
    if uploads:
        server = case.task.aggregate(server, uploads, range(lanes))
    return replace(case, sent=server, kept=[update.kept for update in updates], round=1)


def assert_same(case: Case, executor: Executor) -> None:
    updates = dict(executor.update(case.lanes(executor.device)))
    for client, job in enumerate(case.jobs(case.num_lanes, executor.device)):
        with one_thread():
            outcome = plain_update(job, case.task.algorithm)
        for plain, ours in ((outcome.kept, updates[client].kept), (outcome.upload, updates[client].upload)):
            assert plain.keys() == ours.keys()
            for name, parts in plain.items():
                torch.testing.assert_close(flat(parts), ours[name].reshape(-1), rtol=0, atol=EXACT, msg=name)


def flat(parts: Parts) -> torch.Tensor:
    return torch.cat([part.detach().reshape(-1) for part in parts])


@pytest.mark.parametrize("network", TINY)
@pytest.mark.parametrize("method", METHODS)
def test_both_sides_compute_the_same(method: str, network: str) -> None:
    case = tiny_case(METHODS[method], network)
    assert_same(case, make_executor([case.task], "cpu", workers=1))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
@pytest.mark.parametrize("network", TINY)
@pytest.mark.parametrize("method", METHODS)
def test_both_sides_compute_the_same_on_cuda(method: str, network: str) -> None:
    case = tiny_case(METHODS[method], network)
    assert_same(case, make_executor([case.task], "cuda"))


@pytest.mark.parametrize("method", METHODS)
def test_an_update_moves_what_it_sends(method: str) -> None:
    """So that two sides that do nothing would not pass for the same."""
    case = tiny_case(METHODS[method])
    (job, _) = case.jobs(2, CPU)
    outcome = plain_update(job, case.task.algorithm)
    results = {**outcome.kept, **{f"sent {name}": parts for name, parts in outcome.upload.items()}}
    before = {**job.kept, **{f"sent {name}": parts for name, parts in job.sent.items()}}
    moved = {name for name, parts in results.items() if not torch.equal(flat(parts), flat(before[name]))}
    assert moved >= results.keys() - {"alpha"}


def test_every_plain_loop_is_measured() -> None:
    assert {type(method) for method in METHODS.values()} == set(LOOPS)


def test_every_network_is_measured() -> None:
    assert NETWORKS.keys() == MODELS.keys() == TINY.keys()
