"""The plain loops agree with each other where the methods coincide; the package's methods have no part here."""

from collections.abc import Callable

import plain
import pytest
import torch
from plain import Learnt, flat, fresh_network
from plain_fedavg_family import fedavg, local, scaffold
from plain_mixtures import apfl
from plain_partial import body_and_head, fedrep
from plain_proximal import ditto, l2gd, pfedme

from superfed.algorithms import FedAvg
from superfed.engine.task import Task
from support.toys import toy_network, toy_task

one_thread = pytest.fixture(autouse=True)(plain.one_thread)

Loop = Callable[[Task], Learnt]
PLAIN = {"momentum": 0.0, "weight_decay": 0.0}


def averaged(task: Task) -> Learnt:
    return fedavg(task, toy_network)


def alone(task: Task) -> Learnt:
    """Each client's own training, by client."""
    return {key.removesuffix("/w"): value for key, value in local(task, toy_network).items()}


def first_heads(task: Task) -> Learnt:
    heads = {str(client): body_and_head(fresh_network(toy_network, task.seed))[1] for client in range(6)}
    return {client: flat(head) for client, head in heads.items()}


def server(outcome: Learnt) -> Learnt:
    return {"server/w": outcome["server/w"]}


def kept(outcome: Learnt, name: str) -> Learnt:
    return {k.partition("/")[0]: v for k, v in outcome.items() if k.endswith(f"/{name}") and not k.startswith("server")}


def controls(task: Task, option: str) -> Learnt:
    return scaffold(task, toy_network, option=option, server_lr=1.0, weighting="samples")


EQUALS: dict[str, tuple[dict[str, float], Loop, Loop]] = {
    "scaffold begins as fedavg": ({"rounds": 1}, lambda task: server(controls(task, "II")), averaged),
    "scaffold's options agree on one whole batch": (
        PLAIN | {"local_epochs": 1, "batch_size": 23},
        lambda task: controls(task, "I"),
        lambda task: controls(task, "II"),
    ),
    "apfl without a mixture averages": (
        {},
        lambda task: server(apfl(task, toy_network, alpha=0.0, adaptive=False)),
        averaged,
    ),
    "apfl with nothing but its own trains alone": (
        {},
        lambda task: kept(apfl(task, toy_network, alpha=1.0, adaptive=False), "v"),
        alone,
    ),
    "ditto without a pull trains alone": ({}, lambda task: kept(ditto(task, toy_network, lam=0.0), "v"), alone),
    "l2gd without aggregation trains alone": (
        {},
        lambda task: kept(l2gd(task, toy_network, p=0.0, lam=1.0), "w"),
        alone,
    ),
    "pfedme with one inner step and ηλ = 1 averages": (
        PLAIN | {"lr_decay": 1.0},
        lambda task: server(pfedme(task, toy_network, lam=10.0, inner_steps=1, inner_lr=0.1, beta=1.0)),
        averaged,
    ),
    "fedrep without head epochs keeps the first heads": (
        {"clients_per_round": 6},
        lambda task: kept(fedrep(task, toy_network, head_epochs=0), "head"),
        first_heads,
    ),
}


@pytest.mark.parametrize("claim", EQUALS)
def test_loops_agree_where_methods_coincide(claim: str) -> None:
    schedule, one, other = EQUALS[claim]
    task = toy_task(FedAvg(), **schedule)  # type: ignore[arg-type]
    torch.testing.assert_close(one(task), other(task), rtol=0, atol=1e-12)
