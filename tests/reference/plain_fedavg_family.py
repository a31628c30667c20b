"""Methods with one model: FedAvg, FedProx, SCAFFOLD, and training alone."""

import copy

import torch
from plain import Build, Learnt, batches, fit, flat, fresh_network, learnt, mean, put, rate, sampled, sgd
from torch import nn
from torch.nn import functional

from superfed.engine.task import Task


def local(task: Task, build: Build) -> Learnt:
    """Every client trains its own model in the rounds in which it is sampled."""
    own: dict[int, nn.Module] = {}
    for r in range(task.schedule.rounds):
        for client in sampled(task, r):
            fit(task, r, client, own.setdefault(client, fresh_network(build, task.seed)))
    return learnt({}, w={client: flat(net) for client, net in own.items()})


def fedprox(task: Task, build: Build, *, mu: float) -> Learnt:
    """Li et al. 2020: min F(w) + μ/2 ‖w − w_g‖² on each sampled client, then the weighted mean."""
    w_g = fresh_network(build, task.seed)
    for r in range(task.schedule.rounds):
        updated, counts = [], []
        for client in sampled(task, r):
            w = copy.deepcopy(w_g)
            fit(task, r, client, w, pull=mu, anchor=w_g)
            updated.append([*w.parameters()])
            counts.append(task.data.train_size(client))
        put(w_g.parameters(), mean(updated, counts))
    return learnt({"w": flat(w_g)})


def fedavg(task: Task, build: Build) -> Learnt:
    return fedprox(task, build, mu=0.0)


def scaffold(task: Task, build: Build, *, option: str, server_lr: float, weighting: str) -> Learnt:
    """Karimireddy et al. 2020, Algorithm 1; "samples" counts a client as often as it has samples."""
    x = fresh_network(build, task.seed)
    zeros = [torch.zeros_like(p) for p in x.parameters()]
    c = zeros
    kept: dict[int, list[torch.Tensor]] = {}
    everybody = [task.data.train_size(i) if weighting == "samples" else 1 for i in range(task.data.num_clients)]
    for r in range(task.schedule.rounds):
        moves, control_moves, counts = [], [], []
        for client in sampled(task, r):
            c_i, y = kept.get(client, zeros), copy.deepcopy(x)
            optimiser = sgd(task, r, y.parameters())
            entered, total = 0.0, 0.0  # by how much a step's direction, and all steps, weigh gradients
            for inputs, labels in batches(task, r, client):
                optimiser.zero_grad()
                functional.cross_entropy(y(inputs), labels).backward()  # type: ignore[no-untyped-call]
                for p, own, everyone in zip(y.parameters(), c_i, c, strict=True):
                    assert p.grad is not None
                    p.grad += everyone - own
                optimiser.step()
                entered = task.schedule.momentum * entered + 1
                total += rate(task, r) * entered
            if option == "I":
                samples = task.data.train(client)
                loss = functional.cross_entropy(x(samples.x), samples.y)
                new_c_i = [*torch.autograd.grad(loss, [*x.parameters()])]
            else:
                parts = zip(c_i, c, x.parameters(), y.parameters(), strict=True)
                new_c_i = [own - everyone + (p - q).detach() / total for own, everyone, p, q in parts]
            moves.append([q - p for p, q in zip(x.parameters(), y.parameters(), strict=True)])
            control_moves.append([new - own for new, own in zip(new_c_i, c_i, strict=True)])
            counts.append(everybody[client])
            kept[client] = new_c_i
        took_part = sum(counts) / sum(everybody)
        put(x.parameters(), [p + server_lr * d for p, d in zip(x.parameters(), mean(moves, counts), strict=True)])
        c = [old + took_part * d for old, d in zip(c, mean(control_moves, counts), strict=True)]
    return learnt({"w": flat(x), "c": flat(c)}, c={client: flat(c_i) for client, c_i in kept.items()})
