"""What a last batch of two samples does to a network: python benchmarks/last_batch.py DATA_ROOT [RUN …]

FedAvg on CIFAR-100 in plain PyTorch, with nothing of the engine: the ResNet of the published runs, clients of 362 random
images, 18 batches of 20 and two images over, five clients a round, five epochs, rate 0.01, momentum 0.9. Once those two
make a batch, and once they are left out (a DataLoader's drop_last). What was found is kept in results/last-batch.json. With
finished runs, what the engine found with each choice of training.last_batch is taken there from them instead.
"""

# mypy: allow-untyped-calls

import copy
import json
import platform
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from superfed.bench.networks import NETWORKS
from superfed.bench.plain.modules import ordinary
from superfed.core.errors import UserError
from superfed.data.cifar100 import Cifar100
from superfed.store.layout import RunFolder

KEPT = Path(__file__).parent.parent / "results" / "last-batch.json"
ROUNDS, COHORT, EPOCHS, BATCH, SAMPLES, TESTED = 12, 5, 5, 20, 362, 2000
LR, MOMENTUM, DECAY = 0.01, 0.9, 1e-4
NETWORK = NETWORKS["resnet"]


def updated(start: nn.Module, x: Tensor, y: Tensor, generator: torch.Generator, drop: bool) -> nn.Module:
    module = copy.deepcopy(start).train()
    optimiser = torch.optim.SGD(module.parameters(), lr=LR, momentum=MOMENTUM, weight_decay=DECAY)
    for _ in range(EPOCHS):
        batches = torch.randperm(len(y), generator=generator).split(BATCH)
        for batch in batches[:-1] if drop and len(batches[-1]) < BATCH else batches:
            optimiser.zero_grad()
            cross_entropy(module(x[batch]), y[batch]).backward()
            optimiser.step()
    return module


@torch.no_grad()
def average(modules: list[nn.Module]) -> nn.Module:
    mean = copy.deepcopy(modules[0])
    for parameter, *others in zip(*(module.parameters() for module in (mean, *modules)), strict=True):
        parameter.copy_(torch.stack(others).mean(0))
    return mean


@torch.no_grad()
def accuracy(module: nn.Module, x: Tensor, y: Tensor) -> float:
    """In batches of 100, each normalised by itself."""
    module.eval()
    right = sum(int((module(x[at]).argmax(1) == y[at]).sum()) for at in torch.arange(len(y)).split(100))
    return right / len(y)


def curve(x: Tensor, y: Tensor, drop: bool) -> list[float]:
    """The global model's accuracy after every round, on images that no client has."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    module = ordinary(NETWORK.recipe.build(NETWORK.input_shape, NETWORK.num_classes))
    order = torch.randperm(len(y), generator=generator)
    test, pool = order[:TESTED], order[TESTED:]
    found = []
    for done in range(ROUNDS):
        cohort = torch.randperm(len(pool) // SAMPLES, generator=generator)[:COHORT]
        held = [pool[client * SAMPLES : (client + 1) * SAMPLES] for client in cohort.tolist()]
        module = average([updated(module, x[rows], y[rows], generator, drop) for rows in held])
        found.append(round(accuracy(module, x[test], y[test]), 4))
        print(f"round {done + 1}: {100 * found[-1]:.1f} %", flush=True)
    return found


def taken(folder: Path) -> dict[str, Any]:
    """What a run was, and what it ended with."""
    run = RunFolder(folder)
    info, summary, config = run.info(), run.summary(), run.config()
    if summary is None:
        raise UserError(f"{folder}: is not finished")
    return {
        "method": info["title"],
        "data": {key: config["data"][key] for key in ("dataset", "num_clients", "partition")},
        "rounds": config["training"]["rounds"],
        "last_batch": config["training"].get("last_batch", "keep"),
        "percent": {
            reading: {name: round(100 * summary["readings"][reading][name]["mean"], 2) for name in ("top1", "top5")}
            for reading in ("validated", "oracle")
        },
        "versions": info["versions"],
        "hardware": info["hardware"],
    }


def keep(name: str, what: object) -> None:
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    KEPT.write_text(json.dumps({**kept, name: what}, indent=1) + "\n")


def main(root: Path) -> None:
    data = Cifar100().load(root)
    x, y = torch.as_tensor(data.x) * data.scale, torch.as_tensor(data.y).long()
    found = {}
    for name, drop in (("kept", False), ("dropped", True)):
        print(f"the batch of two is {name}", flush=True)
        found[name] = curve(x, y, drop)
    made = {"torch": torch.__version__, "python": platform.python_version(), "machine": platform.machine()}
    keep("plain", {"versions": made, "accuracy_by_round": found})


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("last_batch.py: give the folder that holds datasets, or that and folders of finished runs")
    try:
        if len(sys.argv) == 2:
            main(Path(sys.argv[1]))
        else:
            keep("runs", [taken(Path(folder)) for folder in sys.argv[2:]])
    except UserError as error:
        sys.exit(f"last_batch.py: {error}")
