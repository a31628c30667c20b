"""The methods once more, written from their papers as plain loops: one module per client, torch.optim.SGD, autograd.

Nothing here uses the engine, the vector view or the methods of the package. What is random (who is sampled, in which
order samples come, λ, the initial weights) is read from the same keys, because it is an input.
"""

import copy
from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional

from superfed.core.random import key, stream
from superfed.engine.task import Task

Sgd = torch.optim.SGD


def fresh_network(build: Callable[[], nn.Module], seed: int, client: int = -1) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(key(seed, "init", client=client) % 2**63)
        return build()


def sampled(task: Task, r: int) -> list[int]:
    count = int(task.schedule.clients_per_round)
    return sorted(stream(task.seed, "cohort", round=r).choice(task.data.num_clients, count, replace=False).tolist())


def batches(task: Task, r: int, client: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """E epochs of mini-batches, the last of each epoch as small as it comes out."""
    samples, size = task.data.train(client), task.schedule.batch_size
    rng = stream(task.seed, "batches/0", round=r, client=client)
    orders = rng.permuted(np.tile(np.arange(len(samples)), (task.schedule.local_epochs, 1)), axis=1)
    return [
        (samples.x[order[i : i + size]], samples.y[order[i : i + size]])
        for order in orders
        for i in range(0, len(samples), size)
    ]


def average(networks: list[nn.Module], counts: list[int]) -> nn.Module:
    """w_g ← Σ n_i w_i / Σ n_i"""
    result = copy.deepcopy(networks[0])
    with torch.no_grad():
        for name, parameter in result.named_parameters():
            terms = [n * dict(net.named_parameters())[name] for n, net in zip(counts, networks, strict=True)]
            parameter.copy_(torch.stack(terms).sum(0) / sum(counts))
    return result


def fedprox(task: Task, build: Callable[[], nn.Module], mu: float) -> nn.Module:
    """FedProx, and FedAvg with μ = 0: min F(w) + μ/2 ‖w − w_g‖² on each sampled client, then the weighted mean."""
    w_g = fresh_network(build, task.seed)
    s = task.schedule
    for r in range(s.rounds):
        updated, counts = [], []
        for client in sampled(task, r):
            net = copy.deepcopy(w_g)
            optimiser = Sgd(net.parameters(), s.lr * s.lr_decay**r, s.momentum, weight_decay=s.weight_decay)
            for x, y in batches(task, r, client):
                optimiser.zero_grad()
                loss = functional.cross_entropy(net(x), y)
                for p, p_g in zip(net.parameters(), w_g.parameters(), strict=True):
                    loss = loss + mu / 2 * (p - p_g.detach()).pow(2).sum()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
            updated.append(net)
            counts.append(task.data.train_size(client))
        w_g = average(updated, counts)
    return w_g


def superfed(
    task: Task,
    build: Callable[[], nn.Module],
    *,
    mu: float,
    nu: float,
    start_round: int,
    per_layer: bool,
    shift_lambda: float = 0.0,
) -> tuple[nn.Module, dict[int, nn.Module]]:
    """SuPerFed's Algorithms 1 and 2: the global model and the local models of clients that took part."""
    w_g = fresh_network(build, task.seed)
    local: dict[int, nn.Module] = {}
    s = task.schedule
    layers = [name for name, module in w_g.named_modules() if list(module.parameters(recurse=False))]
    for r in range(s.rounds):
        updated, counts = [], []
        for client in sampled(task, r):
            if client not in local:
                local[client] = fresh_network(build, task.seed, client)
            w_f, w_l, personalised = copy.deepcopy(w_g), local[client], r >= start_round
            trained = [*w_f.parameters(), *w_l.parameters()] if personalised else [*w_f.parameters()]
            optimiser = Sgd(trained, s.lr * s.lr_decay**r, s.momentum, weight_decay=s.weight_decay)
            steps = batches(task, r, client)
            rng = stream(task.seed, "noise/0", round=r, client=client)
            draws = rng.random((len(steps), len(layers)) if per_layer else len(steps)) + shift_lambda
            for (x, y), draw in zip(steps, draws, strict=True):
                ours, own = dict(w_f.named_parameters()), dict(w_l.named_parameters())
                mixed = {}
                for name in ours:
                    layer = layers.index(name.rpartition(".")[0])
                    lam = 0.0 if not personalised else float(draw[layer] if per_layer else draw)
                    mixed[name] = (1 - lam) * ours[name] + lam * own[name]
                loss = functional.cross_entropy(functional_call(w_f, mixed, (x,)), y)
                loss = loss + mu * sum((ours[n] - p.detach()).pow(2).sum() for n, p in w_g.named_parameters())
                if personalised:
                    inner = sum((ours[n] * own[n]).sum() for n in ours)
                    norms = sum(p.pow(2).sum() for p in ours.values()) * sum(p.pow(2).sum() for p in own.values())
                    loss = loss + nu * inner**2 / norms
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
            updated.append(w_f)
            counts.append(task.data.train_size(client))
        w_g = average(updated, counts)
    return w_g, local
