"""Methods whose personal models are drawn to a common one: Ditto, pFedMe, L2GD."""

import torch
from torch.nn import functional as F

from superfed.algorithms import L2GD, Ditto, PFedMe
from superfed.bench.plain.job import Job, Outcome, descend, fit, load, parts, squared_distance


def ditto(job: Job, method: Ditto) -> Outcome:
    w, v = job.networks
    load(v, job.kept["v"])
    fit(job, v, "personal", pull=method.lam, anchor=job.sent["w"])
    load(w, job.sent["w"])
    fit(job, w, "global")
    return Outcome({"v": parts(v)}, {"w": parts(w)})


def pfedme(job: Job, method: PFedMe) -> Outcome:
    w, theta = job.networks
    load(w, job.sent["w"])
    load(theta, job.sent["w"])
    inner = torch.optim.SGD(theta.parameters(), method.inner_lr)
    for x, y in job.batches("train"):
        anchor = parts(w)
        for _ in range(method.inner_steps):
            descend(F.cross_entropy(theta(x), y) + method.lam / 2 * squared_distance(theta, anchor), inner)
        with torch.no_grad():
            for p, q in zip(w.parameters(), theta.parameters(), strict=True):
                p.sub_(job.lr * method.lam * (p - q))
    return Outcome({"theta": parts(theta)}, {"w": parts(w)})


def l2gd(job: Job, method: L2GD) -> Outcome:
    """In a round of local training; in the others no client trains."""
    network, _ = job.networks
    load(network, job.kept["w"])
    fit(job, network, "train")
    return Outcome({"w": parts(network)}, {"w": parts(network)})
