"""Methods that mix two models' weights: SuPerFed, APFL, MAPPER."""

import copy

import torch
from plain import Build, Learnt, batches, descend, flat, fresh_network, learnt, mean, put, rate, sampled, sgd
from plain import squared_distance as proximity
from torch import nn
from torch.func import functional_call
from torch.nn import functional

from superfed.core.random import stream
from superfed.engine.task import Task


def mixed_loss(
    own: nn.Module, other: nn.Module, lam: float | torch.Tensor, x: torch.Tensor, y: torch.Tensor
) -> torch.Tensor:
    """f(λ w_own + (1 − λ) w_other), where w_other is fixed"""
    others = dict(other.named_parameters())
    mixed = {name: lam * p + (1 - lam) * others[name].detach() for name, p in own.named_parameters()}
    return functional.cross_entropy(functional_call(own, mixed, (x,)), y)


def moved(lam: torch.Tensor, lr: float) -> torch.Tensor:
    """λ ← clip(λ − η ∂f/∂λ, 0, 1)"""
    assert lam.grad is not None
    return (lam.detach() - lr * lam.grad).clip(0, 1)


def apfl(task: Task, build: Build, *, alpha: float, adaptive: bool) -> Learnt:
    """Deng et al. 2020, Algorithm 1."""
    w_g = fresh_network(build, task.seed)
    own: dict[int, nn.Module] = {}
    alphas: dict[int, torch.Tensor] = {}
    for r in range(task.schedule.rounds):
        updated, counts = [], []
        for client in sampled(task, r):
            w, v = copy.deepcopy(w_g), own.setdefault(client, fresh_network(build, task.seed))
            a = alphas.get(client, torch.tensor(alpha, dtype=torch.float64))
            optimisers = sgd(task, r, w.parameters()), sgd(task, r, v.parameters())
            for x, y in batches(task, r, client):
                a.requires_grad_()
                descend(functional.cross_entropy(w(x), y) + mixed_loss(v, w, a, x, y), *optimisers)
                a = moved(a, rate(task, r)) if adaptive else a.detach()
            alphas[client] = a
            updated.append([*w.parameters()])
            counts.append(task.data.train_size(client))
        put(w_g.parameters(), mean(updated, counts))
    return learnt({"w": flat(w_g)}, v={client: flat(v) for client, v in own.items()}, alpha=alphas)


def mapper(task: Task, build: Build, *, lam: float, global_epochs: int | None = None) -> Learnt:
    """Mansour et al. 2020, MAPPER: the client's model and λ with the global model fixed, then that one."""
    w_g = fresh_network(build, task.seed)
    own: dict[int, nn.Module] = {}
    lams: dict[int, torch.Tensor] = {}
    for r in range(task.schedule.rounds):
        updated, counts = [], []
        for client in sampled(task, r):
            w, w_l = copy.deepcopy(w_g), own.setdefault(client, fresh_network(build, task.seed))
            fitted = lams.get(client, torch.tensor(lam, dtype=torch.float64))
            optimiser = sgd(task, r, w_l.parameters())
            for x, y in batches(task, r, client):
                fitted.requires_grad_()
                descend(mixed_loss(w_l, w_g, fitted, x, y), optimiser)
                fitted = moved(fitted, rate(task, r))
            optimiser = sgd(task, r, w.parameters())
            for x, y in batches(task, r, client, phase=1, epochs=global_epochs):
                descend(mixed_loss(w, w_l, 1 - fitted, x, y), optimiser)
            lams[client] = fitted
            updated.append([*w.parameters()])
            counts.append(task.data.train_size(client))
        put(w_g.parameters(), mean(updated, counts))
    return learnt({"w": flat(w_g)}, w_l={client: flat(net) for client, net in own.items()}, lam=lams)


def superfed(
    task: Task, build: Build, *, mu: float, nu: float, start: int, mixing: str, shift_lambda: float = 0.0
) -> Learnt:
    """Hahn et al. 2022, Algorithms 1 and 2."""
    w_g = fresh_network(build, task.seed)
    local: dict[int, nn.Module] = {}
    layers = [name for name, module in w_g.named_modules() if list(module.parameters(recurse=False))]
    per_layer = mixing == "layer"
    for r in range(task.schedule.rounds):
        updated, counts = [], []
        for client in sampled(task, r):
            w_f, w_l = copy.deepcopy(w_g), local.setdefault(client, fresh_network(build, task.seed, client))
            personalised = r >= start
            optimiser = sgd(task, r, [*w_f.parameters(), *w_l.parameters()] if personalised else w_f.parameters())
            steps = batches(task, r, client)
            rng = stream(task.seed, "noise/0", round=r, client=client)
            draws = rng.random((len(steps), len(layers)) if per_layer else len(steps)) + shift_lambda
            for (x, y), draw in zip(steps, draws, strict=True):
                ours, theirs = dict(w_f.named_parameters()), dict(w_l.named_parameters())
                mixed = {}
                for name in ours:
                    layer = layers.index(name.rpartition(".")[0])
                    lam = 0.0 if not personalised else float(draw[layer] if per_layer else draw)
                    mixed[name] = (1 - lam) * ours[name] + lam * theirs[name]
                loss = functional.cross_entropy(functional_call(w_f, mixed, (x,)), y) + mu * proximity(w_f, w_g)
                if personalised:
                    inner = sum((ours[n] * theirs[n]).sum() for n in ours)
                    norms = sum(p.pow(2).sum() for p in ours.values()) * sum(p.pow(2).sum() for p in theirs.values())
                    loss = loss + nu * inner**2 / norms
                descend(loss, optimiser)
            updated.append([*w_f.parameters()])
            counts.append(task.data.train_size(client))
        put(w_g.parameters(), mean(updated, counts))
    return learnt({"w": flat(w_g)}, w_l={client: flat(net) for client, net in local.items()})
