"""Methods whose personal models are drawn to a common one: Ditto, pFedMe, L2GD."""

import copy
from collections.abc import Iterable

import torch
from plain import (
    Build,
    Learnt,
    Sgd,
    batches,
    descend,
    fit,
    flat,
    fresh_network,
    learnt,
    mean,
    put,
    rate,
    sampled,
    squared_distance,
)
from torch import nn
from torch.nn import functional

from superfed.core.random import stream
from superfed.engine.task import Task


def towards(goal: Iterable[torch.Tensor], here: Iterable[torch.Tensor], step: float) -> list[torch.Tensor]:
    """a − step (a − b)"""
    return [a - step * (a - b) for a, b in zip(here, goal, strict=True)]


def ditto(
    task: Task, build: Build, *, lam: float, personal_epochs: int | None = None, global_epochs: int | None = None
) -> Learnt:
    """Li et al. 2021, Algorithm 1: min F(v) + λ/2 ‖v − w_g‖² beside FedAvg."""
    w_g = fresh_network(build, task.seed)
    own: dict[int, nn.Module] = {}
    for r in range(task.schedule.rounds):
        updated, counts = [], []
        for client in sampled(task, r):
            w, v = copy.deepcopy(w_g), own.setdefault(client, fresh_network(build, task.seed))
            fit(task, r, client, v, epochs=personal_epochs, pull=lam, anchor=w_g)
            fit(task, r, client, w, epochs=global_epochs, phase=1)
            updated.append([*w.parameters()])
            counts.append(task.data.train_size(client))
        put(w_g.parameters(), mean(updated, counts))
    return learnt({"w": flat(w_g)}, v={client: flat(v) for client, v in own.items()})


def pfedme(task: Task, build: Build, *, lam: float, inner_steps: int, inner_lr: float, beta: float) -> Learnt:
    """Dinh et al. 2020, Algorithm 1: θ ≈ argmin f(θ) + λ/2 ‖θ − w‖² on each batch, w ← w − ηλ (w − θ)."""
    w_g = fresh_network(build, task.seed)
    thetas: dict[int, torch.Tensor] = {}
    for r in range(task.schedule.rounds):
        updated, counts = [], []
        for client in sampled(task, r):
            w, theta = copy.deepcopy(w_g), copy.deepcopy(w_g)
            inner = Sgd(theta.parameters(), inner_lr)
            for x, y in batches(task, r, client):
                for _ in range(inner_steps):
                    descend(functional.cross_entropy(theta(x), y) + lam / 2 * squared_distance(theta, w), inner)
                put(w.parameters(), towards(theta.parameters(), w.parameters(), rate(task, r) * lam))
            thetas[client] = flat(theta)
            updated.append([*w.parameters()])
            counts.append(task.data.train_size(client))
        put(w_g.parameters(), towards(mean(updated, counts), w_g.parameters(), beta))
    return learnt({"w": flat(w_g)}, theta=thetas)


def aggregates(task: Task, r: int, p: float) -> bool:
    """L2GD's coin for the round."""
    return bool(stream(task.seed, "coin", round=r).random() < p)


def l2gd(task: Task, build: Build, *, p: float, lam: float) -> Learnt:
    """Hanzely and Richtárik 2020, Algorithm 1, with η = α / (n (1 − p))."""
    x_bar = fresh_network(build, task.seed)
    own: dict[int, nn.Module] = {}
    for r in range(task.schedule.rounds):
        cohort = sampled(task, r)
        for client in cohort:
            x_i = own.setdefault(client, fresh_network(build, task.seed))
            if aggregates(task, r, p):
                m = min(1.0, rate(task, r) * (1 - p) * lam / p)
                put(x_i.parameters(), towards(x_bar.parameters(), x_i.parameters(), m))
            else:
                fit(task, r, client, x_i)
        same = zip(*(own[client].parameters() for client in cohort), strict=True)
        put(x_bar.parameters(), [torch.stack(tensors).mean(0) for tensors in same])
    return learnt({"w": flat(x_bar)}, w={client: flat(x_i) for client, x_i in own.items()})
