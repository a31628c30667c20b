"""Each method equals an independent plain loop, in float64, over several rounds, with ragged clients and sampling."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from types import ModuleType
from typing import Any

import plain
import plain_mixtures
import pytest
import torch
from plain import Learnt
from plain_fedavg_family import fedavg, fedprox, local, scaffold
from plain_mixtures import apfl, mapper, superfed
from plain_partial import fedper, fedrep, lg_fedavg
from plain_proximal import aggregates, ditto, l2gd, pfedme

from superfed.algorithms import (
    APFL,
    L2GD,
    Ditto,
    FedAvg,
    FedAvgFT,
    FedPer,
    FedProx,
    FedRep,
    LGFedAvg,
    Local,
    Mapper,
    PFedMe,
    Scaffold,
    SuPerFed,
)
from superfed.core.algorithm import Algorithm
from superfed.core.random import key, stream
from superfed.engine.task import Task
from support.toys import METHODS, difference, toy_network, toy_task, train, weights

one_thread = pytest.fixture(autouse=True)(plain.one_thread)

EXACT = 1e-10
SEEDS = [0, 3]


@dataclass(frozen=True)
class Case:
    """A method and its loop, which take the same settings."""

    method: Callable[..., Algorithm]
    loop: Callable[..., Learnt]
    settings: Mapping[str, Any] = field(default_factory=dict)
    schedule: Mapping[str, float] = field(default_factory=dict)


NO_MOMENTUM = {"momentum": 0.0}
EVERYBODY = {"clients_per_round": 6, "rounds": 6}
CONTROLS = {"option": "II", "server_lr": 0.7, "weighting": "samples"}
INNER = {"lam": 5.0, "inner_steps": 3, "inner_lr": 0.05}

CASES: dict[str, Case] = {
    "fedavg": Case(FedAvg, fedavg),
    "fedavg_ft": Case(partial(FedAvgFT, epochs=3), fedavg),
    "fedprox": Case(FedProx, fedprox, {"mu": 0.3}),
    "local": Case(Local, local),
    "local-plain": Case(Local, local, {}, NO_MOMENTUM),
    "scaffold": Case(Scaffold, scaffold, CONTROLS),
    "scaffold-II-uniform": Case(Scaffold, scaffold, CONTROLS | {"weighting": "uniform"}),
    "scaffold-II-plain": Case(Scaffold, scaffold, CONTROLS, NO_MOMENTUM),
    "scaffold-II-uniform-plain": Case(Scaffold, scaffold, CONTROLS | {"weighting": "uniform"}, NO_MOMENTUM),
    "scaffold-I": Case(Scaffold, scaffold, CONTROLS | {"option": "I"}),
    "scaffold-I-uniform": Case(Scaffold, scaffold, CONTROLS | {"option": "I", "weighting": "uniform"}),
    "scaffold-I-plain": Case(Scaffold, scaffold, CONTROLS | {"option": "I", "server_lr": 1.0}, NO_MOMENTUM),
    "fedper": Case(FedPer, fedper),
    "fedper-plain": Case(FedPer, fedper, {}, NO_MOMENTUM),
    "lg_fedavg": Case(LGFedAvg, lg_fedavg),
    "lg_fedavg-plain": Case(LGFedAvg, lg_fedavg, {}, NO_MOMENTUM),
    "fedrep": Case(FedRep, fedrep),
    "fedrep-epochs": Case(FedRep, fedrep, {"head_epochs": 3, "body_epochs": 2}),
    "fedrep-body": Case(FedRep, fedrep, {"head_epochs": 0, "body_epochs": 1}),
    "fedrep-plain": Case(FedRep, fedrep, {}, NO_MOMENTUM),
    "apfl": Case(APFL, apfl, {"alpha": 0.25, "adaptive": False}),
    "apfl-adaptive": Case(APFL, apfl, {"alpha": 0.25, "adaptive": True}),
    "apfl-adaptive-plain": Case(APFL, apfl, {"alpha": 0.6, "adaptive": True}, NO_MOMENTUM),
    "apfl-clipped": Case(APFL, apfl, {"alpha": 0.99, "adaptive": True}),
    "mapper": Case(Mapper, mapper, {"lam": 0.5}),
    "mapper-clipped": Case(Mapper, mapper, {"lam": 0.99}),
    "mapper-epochs": Case(Mapper, mapper, {"lam": 0.4, "global_epochs": 1}),
    "mapper-plain": Case(Mapper, mapper, {"lam": 0.5}, NO_MOMENTUM),
    "mapper-original": Case(Mapper, mapper, {"lam": 0.5}, {"clients_per_round": 1, "rounds": 8}),
    "superfed": Case(SuPerFed, superfed, {"mu": 0.1, "nu": 0.7, "start": 0, "mixing": "model"}),
    "superfed-later": Case(SuPerFed, superfed, {"mu": 0.1, "nu": 0.7, "start": 2, "mixing": "model"}),
    "superfed-layer": Case(SuPerFed, superfed, {"mu": 0.1, "nu": 0.7, "start": 0, "mixing": "layer"}),
    "superfed-layer-later": Case(SuPerFed, superfed, {"mu": 0.1, "nu": 0.7, "start": 2, "mixing": "layer"}),
    "ditto": Case(Ditto, ditto, {"lam": 0.8}),
    "ditto-epochs": Case(Ditto, ditto, {"lam": 0.8, "personal_epochs": 3, "global_epochs": 1}),
    "ditto-plain": Case(Ditto, ditto, {"lam": 0.8}, NO_MOMENTUM),
    "pfedme": Case(PFedMe, pfedme, INNER | {"beta": 1.0}),
    "pfedme-beta": Case(PFedMe, pfedme, INNER | {"beta": 1.7}),
    "l2gd": Case(L2GD, l2gd, {"p": 0.5, "lam": 3.0}, {"rounds": 6}),
    "l2gd-everybody": Case(L2GD, l2gd, {"p": 0.5, "lam": 3.0}, EVERYBODY),
    "l2gd-everybody-plain": Case(L2GD, l2gd, {"p": 0.5, "lam": 3.0}, EVERYBODY | NO_MOMENTUM),
    "l2gd-whole-step": Case(L2GD, l2gd, {"p": 0.5, "lam": 30.0}, EVERYBODY),
    "l2gd-alone": Case(L2GD, l2gd, {"p": 0.0, "lam": 3.0}),
    "l2gd-mostly-aggregating": Case(L2GD, l2gd, {"p": 0.99, "lam": 300.0}, EVERYBODY),
}

WRONG_SETTINGS: dict[str, dict[str, Any]] = {
    "fedprox": {"mu": 0.30003},
    "scaffold": {"option": "I", "server_lr": 0.70007, "weighting": "uniform"},
    "scaffold-II-plain": {"option": "I", "server_lr": 0.70007, "weighting": "uniform"},
    "scaffold-I": {"option": "II", "server_lr": 0.70007, "weighting": "uniform"},
    "fedrep": {"head_epochs": 1, "body_epochs": 2},
    "fedrep-epochs": {"head_epochs": None, "body_epochs": 1},
    "fedrep-body": {"head_epochs": 1, "body_epochs": 2},
    "apfl": {"alpha": 0.250025, "adaptive": True},
    "apfl-adaptive": {"alpha": 0.250025, "adaptive": False},
    "mapper": {"lam": 0.50005, "global_epochs": 1},
    "mapper-epochs": {"lam": 0.40004, "global_epochs": None},
    "superfed-later": {"mu": 0.10001, "nu": 0.70007, "start": 1, "mixing": "layer", "shift_lambda": 1e-4},
    "superfed-layer": {"mu": 0.10001, "nu": 0.70007, "start": 1, "mixing": "model", "shift_lambda": 1e-4},
    "ditto": {"lam": 0.80008, "personal_epochs": 1, "global_epochs": 1},
    "ditto-epochs": {"lam": 0.80008, "personal_epochs": None, "global_epochs": None},
    "pfedme": {"lam": 5.0005, "inner_steps": 4, "inner_lr": 0.050005, "beta": 1.0001},
    "pfedme-beta": {"beta": 1.70017},
    "l2gd": {"p": 0.50005, "lam": 3.0003},
    "l2gd-everybody": {"p": 0.50005, "lam": 3.0003},
    "l2gd-whole-step": {"lam": 3.0},
    "l2gd-alone": {"p": 0.5},
}
"""By case, settings that only the loop gets, one at a time: numbers off by 1e-4 of themselves, and other options."""

WRONG_OPTIMISER: list[tuple[str, str]] = [
    (name, setting)
    for name in [*(name for name in CASES if "-" not in name), "scaffold-I", "apfl-adaptive"]
    for setting in ("lr", "lr_decay", "momentum", "weight_decay")
    if name != "pfedme" or setting.startswith("lr")
]
"""Every method with each setting of SGD, of which pFedMe takes the rate only."""


def same_portions(counts: list[int]) -> list[float]:
    return [1 / len(counts)] * len(counts)


def servers_key(seed: int, purpose: str, **_: int) -> int:
    return key(seed, purpose)


def first_phase(seed: int, purpose: str, **who: int) -> Any:
    return stream(seed, purpose.replace("/1", "/0"), **who)


def unclipped(lam: torch.Tensor, lr: float) -> torch.Tensor:
    assert lam.grad is not None
    return lam.detach() - lr * lam.grad


SABOTAGE: dict[str, tuple[ModuleType, Callable[..., Any], list[str]]] = {
    "portions": (
        plain,
        same_portions,
        ["fedavg", "scaffold", "fedper", "lg_fedavg", "fedrep", "apfl", "mapper", "superfed", "ditto", "pfedme"],
    ),
    "key": (plain, servers_key, ["superfed"]),
    "stream": (plain, first_phase, ["fedrep", "mapper", "ditto"]),
    "moved": (plain_mixtures, unclipped, ["apfl-adaptive", "apfl-clipped", "mapper-clipped"]),
}
"""What the loops could get wrong together, with the cases that must notice: a mean that does not count samples,
SuPerFed's local models that start as the server's, phases that share their batches, and λ outside of [0, 1]."""


@cache
def trained(name: str, seed: int) -> tuple[Task, Learnt]:
    """What the engine learns in a case."""
    case = CASES[name]
    task = toy_task(case.method(**case.settings), seed=seed, **case.schedule)  # type: ignore[arg-type]
    (run,) = train([task])
    return task, weights(run)


def distance(one: Learnt, other: Learnt) -> float:
    """How far two outcomes are apart, at the worst place."""
    assert one.keys() == other.keys()
    return max(float((value - other[name]).reshape(-1).abs().max()) for name, value in one.items())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CASES)
def test_the_engine_learns_what_the_plain_loop_learns(name: str, seed: int) -> None:
    task, outcome = trained(name, seed)
    expected = CASES[name].loop(task, toy_network, **CASES[name].settings)
    assert {name: value.numel() for name, value in outcome.items()} == {n: v.numel() for n, v in expected.items()}
    assert distance(outcome, expected) < EXACT


@pytest.mark.parametrize(
    ("name", "setting"), [(name, setting) for name in WRONG_SETTINGS for setting in WRONG_SETTINGS[name]]
)
def test_a_wrong_setting_is_told_apart(name: str, setting: str) -> None:
    task, outcome = trained(name, 3)
    settings = {**CASES[name].settings, setting: WRONG_SETTINGS[name][setting]}
    assert distance(outcome, CASES[name].loop(task, toy_network, **settings)) > 100 * EXACT


@pytest.mark.parametrize(("name", "setting"), WRONG_OPTIMISER)
def test_a_wrong_optimiser_is_told_apart(name: str, setting: str) -> None:
    task, outcome = trained(name, 3)
    wrong = replace(task, schedule=replace(task.schedule, **{setting: getattr(task.schedule, setting) * 0.9999}))
    assert distance(outcome, CASES[name].loop(wrong, toy_network, **CASES[name].settings)) > 100 * EXACT


@pytest.mark.parametrize(("part", "name"), [(part, name) for part in SABOTAGE for name in SABOTAGE[part][2]])
def test_a_sabotaged_loop_is_told_apart(part: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task, outcome = trained(name, 3)
    module, wrong, _ = SABOTAGE[part]
    monkeypatch.setattr(module, part, wrong)
    assert distance(outcome, CASES[name].loop(task, toy_network, **CASES[name].settings)) > 100 * EXACT


@pytest.mark.parametrize("seed", SEEDS)
def test_l2gd_cases_have_the_rounds_they_are_for(seed: int) -> None:
    def kinds(name: str) -> set[bool]:
        case = CASES[name]
        task = toy_task(Local(), seed=seed, **case.schedule)  # type: ignore[arg-type]
        return {aggregates(task, r, case.settings["p"]) for r in range(task.schedule.rounds)}

    assert kinds("l2gd") == kinds("l2gd-everybody") == kinds("l2gd-whole-step") == {True, False}
    assert kinds("l2gd-alone") == {False}
    assert kinds("l2gd-mostly-aggregating") == {True}


@pytest.mark.parametrize("name", METHODS)
def test_runs_with_other_seeds_differ(name: str) -> None:
    first, second = train([toy_task(METHODS[name], seed=0), toy_task(METHODS[name], seed=1)])
    shared = {k: v for k, v in weights(first).items() if k in weights(second)}
    assert max(float((v - weights(second)[k]).abs().max()) for k, v in shared.items()) > 1e-3
    assert difference(first, first) == 0
