"""Methods with one model: Local, FedAvg, FedProx, SCAFFOLD."""

import torch
from torch.nn import functional as F

from superfed.algorithms import FedAvg, FedProx, Local, Scaffold
from superfed.bench.plain.job import Job, Outcome, fit, load, parts


def local(job: Job, method: Local) -> Outcome:
    network, _ = job.networks
    load(network, job.kept["w"])
    fit(job, network, "train")
    return Outcome({"w": parts(network)}, {})


def fedavg(job: Job, method: FedAvg) -> Outcome:
    network, _ = job.networks
    load(network, job.sent["w"])
    fit(job, network, "train")
    return Outcome({}, {"w": parts(network)})


def fedprox(job: Job, method: FedProx) -> Outcome:
    network, _ = job.networks
    load(network, job.sent["w"])
    fit(job, network, "train", pull=method.mu, anchor=job.sent["w"])
    return Outcome({}, {"w": parts(network)})


def scaffold(job: Job, method: Scaffold) -> Outcome:
    """Option II, the method's default."""
    network, _ = job.networks
    x, c, c_i = job.sent["w"], job.sent["c"], job.kept["c"]
    load(network, x)
    optimiser = job.sgd(*network.parameters())
    entered, pull = 0.0, 0.0  # how much a step's direction, and all steps, weigh gradients
    for inputs, labels in job.batches("train"):
        optimiser.zero_grad()
        F.cross_entropy(network(inputs), labels).backward()  # type: ignore[no-untyped-call]
        with torch.no_grad():
            for parameter, everyone, own in zip(network.parameters(), c, c_i, strict=True):
                assert parameter.grad is not None
                parameter.grad += everyone - own
        optimiser.step()
        entered = job.momentum * entered + 1
        pull += job.lr * entered
    y = parts(network)
    new_c = [own - everyone + (p - q) / pull for own, everyone, p, q in zip(c_i, c, x, y, strict=True)]
    moves = [q - p for p, q in zip(x, y, strict=True)]
    return Outcome({"c": new_c}, {"w": moves, "c": [new - own for new, own in zip(new_c, c_i, strict=True)]})
