"""Methods that share a part of the network: FedPer, LG-FedAvg, FedRep."""

import copy

import torch
from plain import Build, Learnt, fit, flat, fresh_network, learnt, mean, put, sampled
from torch import nn

from superfed.engine.task import Task


def body_and_head(net: nn.Module) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The head is the last layer that has parameters."""
    *below, last = [layer for layer in net.modules() if [*layer.parameters(recurse=False)]]
    return [p for layer in below for p in layer.parameters(recurse=False)], [*last.parameters()]


def one_part(task: Task, build: Build, *, shared: int, phases: list[tuple[str, int | None]]) -> Learnt:
    """Part 0 (the body) or 1 (the head) is everybody's, the other is the client's; phases say what trains how long."""
    server = fresh_network(build, task.seed)
    own: dict[int, nn.Module] = {}
    for r in range(task.schedule.rounds):
        updated, counts = [], []
        for client in sampled(task, r):
            net = own.setdefault(client, fresh_network(build, task.seed))
            put(body_and_head(net)[shared], body_and_head(server)[shared])
            body, head = body_and_head(net)
            for phase, (trained, epochs) in enumerate(phases):
                parameters = {"body": body, "head": head, "both": body + head}[trained]
                fit(task, r, client, net, parameters=parameters, phase=phase, epochs=epochs)
            updated.append(body_and_head(copy.deepcopy(net))[shared])
            counts.append(task.data.train_size(client))
        put(body_and_head(server)[shared], mean(updated, counts))
    personal = 1 - shared
    kept = {client: flat(body_and_head(net)[personal]) for client, net in own.items()}
    return learnt({"w": flat(body_and_head(server)[shared])}, **{["body", "head"][personal]: kept})


def fedper(task: Task, build: Build) -> Learnt:
    """Arivazhagan et al. 2019: base layers are averaged, the head stays."""
    return one_part(task, build, shared=0, phases=[("both", None)])


def lg_fedavg(task: Task, build: Build) -> Learnt:
    """Liang et al. 2020: local representations, a global head."""
    return one_part(task, build, shared=1, phases=[("both", None)])


def fedrep(task: Task, build: Build, *, head_epochs: int | None = None, body_epochs: int = 1) -> Learnt:
    """Collins et al. 2021, Algorithm 1: first the head on the body as it came, then the body."""
    return one_part(task, build, shared=0, phases=[("head", head_epochs), ("body", body_epochs)])
