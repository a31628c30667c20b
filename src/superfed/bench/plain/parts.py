"""Methods that share a part of the network: FedPer, LG-FedAvg, FedRep. The head is the classifier block."""

from torch import nn

from superfed.algorithms import FedPer, FedRep, LGFedAvg
from superfed.bench.plain.job import Job, Outcome, fit, load, parts


def fedper(job: Job, method: FedPer) -> Outcome:
    network, _ = job.networks
    body, head = body_and_head(network)
    load(body, job.sent["w"])
    load(head, job.kept["head"])
    fit(job, network, "train")
    return Outcome({"head": parts(head)}, {"w": parts(body)})


def lg_fedavg(job: Job, method: LGFedAvg) -> Outcome:
    network, _ = job.networks
    body, head = body_and_head(network)
    load(body, job.kept["body"])
    load(head, job.sent["w"])
    fit(job, network, "train")
    return Outcome({"body": parts(body)}, {"w": parts(head)})


def fedrep(job: Job, method: FedRep) -> Outcome:
    """The head on the body as it came, then the body."""
    network, _ = job.networks
    body, head = body_and_head(network)
    load(body, job.sent["w"])
    load(head, job.kept["head"])
    for phase, trained, fixed in (("head", head, body), ("body", body, head)):
        trained.requires_grad_(True)
        fixed.requires_grad_(False)
        fit(job, network, phase)
    return Outcome({"head": parts(head)}, {"w": parts(body)})


def body_and_head(network: nn.Module) -> tuple[nn.Module, nn.Module]:
    return network.get_submodule("features"), network.get_submodule("classifier")
