"""Methods that mix two models' weights: APFL, MAPPER, SuPerFed."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F

from superfed.algorithms import APFL, Mapper, SuPerFed
from superfed.bench.plain.job import Job, Outcome, descend, load, parts, squared_distance


def apfl(job: Job, method: APFL) -> Outcome:
    """With α fixed, the method's default."""
    w, v = job.networks
    load(w, job.sent["w"])
    load(v, job.kept["v"])
    (kept_alpha,) = job.kept["alpha"]
    alpha = float(kept_alpha)
    optimisers = job.sgd(*w.parameters()), job.sgd(*v.parameters())
    for x, y in job.batches("train"):
        loss = F.cross_entropy(w(x), y) + F.cross_entropy(mixed(v, w, alpha)(x), y)
        descend(loss, *optimisers)
    return Outcome({"v": parts(v), "alpha": [kept_alpha]}, {"w": parts(w)})


def mapper(job: Job, method: Mapper) -> Outcome:
    """The client's model and λ with the global model fixed, then that one."""
    w, w_l = job.networks
    load(w, job.sent["w"])
    load(w_l, job.kept["w_l"])
    lam = job.kept["lam"][0].clone().requires_grad_()
    optimiser = job.sgd(*w_l.parameters())
    for x, y in job.batches("local"):
        lam.grad = None
        descend(F.cross_entropy(mixed(w_l, w, lam)(x), y), optimiser)
        with torch.no_grad():
            assert lam.grad is not None
            lam.sub_(job.lr * lam.grad).clamp_(0, 1)
    lam = lam.detach()
    optimiser = job.sgd(*w.parameters())
    for x, y in job.batches("global"):
        descend(F.cross_entropy(mixed(w, w_l, 1 - lam)(x), y), optimiser)
    return Outcome({"w_l": parts(w_l), "lam": [lam]}, {"w": parts(w)})


def superfed(job: Job, method: SuPerFed) -> Outcome:
    """Algorithm 1 after round L."""
    w_f, w_l = job.networks
    w_g = job.sent["w"]
    load(w_f, w_g)
    load(w_l, job.kept["w_l"])
    layer_of = layers(w_f)
    optimiser = job.sgd(*w_f.parameters(), *w_l.parameters())
    for (x, y), drawn in zip(job.batches("train"), job.lambdas, strict=True):
        lam = dict.fromkeys(layer_of, drawn[0]) if len(drawn) == 1 else {n: drawn[i] for n, i in layer_of.items()}
        theirs = dict(w_l.named_parameters())
        mixture = {name: (1 - lam[name]) * p + lam[name] * theirs[name] for name, p in w_f.named_parameters()}
        loss = F.cross_entropy(functional_call(w_f, mixture, (x,)), y)
        loss = loss + method.mu * squared_distance(w_f, w_g) + method.nu * cos_squared(w_f, w_l)
        descend(loss, optimiser)
    return Outcome({"w_l": parts(w_l)}, {"w": parts(w_f)})


def mixed(own: nn.Module, other: nn.Module, share: float | Tensor) -> Callable[[Tensor], Tensor]:
    """The network with weights share · own + (1 − share) · other, where other is fixed."""
    others = dict(other.named_parameters())
    mixture = {name: share * p + (1 - share) * others[name].detach() for name, p in own.named_parameters()}

    def forward(x: Tensor) -> Tensor:
        scores: Tensor = functional_call(own, mixture, (x,))
        return scores

    return forward


def cos_squared(one: nn.Module, other: nn.Module) -> Tensor:
    pairs = list(zip(one.parameters(), other.parameters(), strict=True))
    inner = torch.stack([(p * q).sum() for p, q in pairs]).sum()
    norms = [torch.stack([p.pow(2).sum() for p in side]).sum() for side in zip(*pairs, strict=True)]
    return inner**2 / (norms[0] * norms[1])


def layers(network: nn.Module) -> dict[str, int]:
    """For each parameter the place of the layer that owns it."""
    owners = [name for name, module in network.named_modules() if list(module.parameters(recurse=False))]
    return {name: owners.index(name.rpartition(".")[0]) for name, _ in network.named_parameters()}
