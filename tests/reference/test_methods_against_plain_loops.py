"""Each method equals an independent plain loop, in float64, over several rounds, with ragged clients and sampling."""

from dataclasses import replace

import pytest
import torch
from plain_loops import fedprox, superfed
from torch import nn

from superfed.algorithms import FedAvg, FedProx, SuPerFed
from superfed.engine.simulation import Run
from support.toys import METHODS, difference, toy_network, toy_task, train, weights

EXACT = 1e-10


def vector(network: nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in network.parameters()])


def distance(run: Run, w_g: nn.Module, local: dict[int, nn.Module] | None = None) -> float:
    """How far the engine's weights are from the loop's, at the worst place."""
    learnt = weights(run)
    expected = {"server/w": w_g} | {f"{client}/w_l": net for client, net in (local or {}).items()}
    assert learnt.keys() == expected.keys()
    return max(float((learnt[name] - vector(net)).abs().max()) for name, net in expected.items())


@pytest.mark.parametrize("seed", [0, 3])
def test_fedavg(seed: int) -> None:
    task = toy_task(FedAvg(), seed=seed)
    (run,) = train([task])
    assert distance(run, fedprox(task, toy_network, mu=0.0)) < EXACT


@pytest.mark.parametrize("seed", [0, 3])
def test_fedprox(seed: int) -> None:
    task = toy_task(FedProx(mu=0.3), seed=seed)
    (run,) = train([task])
    assert distance(run, fedprox(task, toy_network, mu=0.3)) < EXACT


@pytest.mark.parametrize("mixing", ["model", "layer"])
@pytest.mark.parametrize("start", [0, 2])
def test_superfed(mixing: str, start: int) -> None:
    task = toy_task(SuPerFed(mu=0.1, nu=0.7, start=start, mixing=mixing))  # type: ignore[arg-type]
    (run,) = train([task])
    w_g, local = superfed(task, toy_network, mu=0.1, nu=0.7, start_round=start, per_layer=mixing == "layer")
    assert distance(run, w_g, local) < EXACT


@pytest.mark.parametrize(
    "wrong",
    [
        {"mu": 0.1001},
        {"nu": 0.7001},
        {"start_round": 1},
        {"shift_lambda": 1e-4},
        {"per_layer": True},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_perturbed_superfed_is_told_apart(wrong: dict[str, float]) -> None:
    task = toy_task(SuPerFed(mu=0.1, nu=0.7, start=2))
    (run,) = train([task])
    right = {"mu": 0.1, "nu": 0.7, "start_round": 2, "per_layer": False}
    w_g, local = superfed(task, toy_network, **(right | wrong))  # type: ignore[arg-type]
    assert distance(run, w_g, local) > 100 * EXACT


@pytest.mark.parametrize("name", ["momentum", "weight_decay", "lr", "lr_decay"])
def test_a_perturbed_optimiser_is_told_apart(name: str) -> None:
    task = toy_task(FedProx(mu=0.3))
    (run,) = train([task])
    wrong = replace(task, schedule=replace(task.schedule, **{name: getattr(task.schedule, name) * 1.0001}))
    assert distance(run, fedprox(wrong, toy_network, mu=0.3)) > 100 * EXACT


@pytest.mark.parametrize("name", METHODS)
def test_runs_with_other_seeds_differ(name: str) -> None:
    first, second = train([toy_task(METHODS[name], seed=0), toy_task(METHODS[name], seed=1)])
    shared = {k: v for k, v in weights(first).items() if k in weights(second)}
    assert max(float((v - weights(second)[k]).abs().max()) for k, v in shared.items()) > 1e-3
    assert difference(first, first) == 0
