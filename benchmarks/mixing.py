"""How far a client's loss jumps while it trains, SuPerFed-MM and -LM: python benchmarks/mixing.py DATA_ROOT

One local update of the paper's kind on CIFAR-10 (two classes, 360 samples, ten epochs, batches of 10, rate 0.01, momentum
0.9, the TwoCNN of the published runs), from a fresh global model and another fresh local one, for ten clients each, in
plain PyTorch with nothing of the engine. What was found is also kept in results/mixing.json.
"""

# mypy: allow-untyped-calls

import json
import platform
import sys
from pathlib import Path
from statistics import median

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from superfed.core.errors import UserError
from superfed.data.cifar10 import Cifar10
from superfed.models.two_cnn import TwoCNN

KEPT = Path(__file__).parent.parent / "results" / "mixing.json"
CLIENTS, PER_CLASS, EPOCHS, BATCH = 10, 180, 10, 10
LR, MOMENTUM, DECAY = 0.01, 0.9, 1e-4
BLOWN_UP = 1e4
RECIPE = TwoCNN(padding=1, pool_padding=1, hidden_layers=2, width=200, bias=False, init="xavier_normal")

Weights = dict[str, Tensor]


def fresh(key: int) -> nn.Module:
    torch.manual_seed(key)
    return RECIPE.build((3, 32, 32), 10)


def weights(module: nn.Module) -> Weights:
    return {name: value.detach().clone().requires_grad_() for name, value in module.named_parameters()}


def mixed(federated: Weights, local: Weights, per_layer: bool, generator: torch.Generator) -> Weights:
    lam = torch.rand(len(federated), generator=generator) if per_layer else torch.rand(1, generator=generator)
    lams = lam.expand(len(federated))
    return {name: torch.lerp(federated[name], local[name], lams[i]) for i, name in enumerate(federated)}


def highest_loss(x: Tensor, y: Tensor, client: int, mu: float, per_layer: bool) -> float:
    """Of any batch of a client's update."""
    generator = torch.Generator().manual_seed(client)
    classes = torch.randperm(10, generator=generator)[:2]
    own = torch.cat([(y == label).nonzero()[:, 0][:PER_CLASS] for label in classes])
    module = fresh(0)
    start, federated, local = weights(module), weights(module), weights(fresh(client + 1))
    optimiser = torch.optim.SGD([*federated.values(), *local.values()], lr=LR, momentum=MOMENTUM, weight_decay=DECAY)
    highest = 0.0
    for _ in range(EPOCHS):
        for batch in own[torch.randperm(len(own), generator=generator)].split(BATCH):
            scores = functional_call(module, mixed(federated, local, per_layer, generator), (x[batch],))
            loss = cross_entropy(scores, y[batch])
            highest = max(highest, float(loss.detach()))
            if not highest < BLOWN_UP:
                return highest
            distance = sum(((federated[name] - start[name].detach()) ** 2).sum() for name in federated)
            optimiser.zero_grad()
            (loss + mu * distance).backward()
            optimiser.step()
    return highest


def main(root: Path) -> None:
    torch.set_num_threads(1)
    data = Cifar10().load(root)
    x, y = torch.as_tensor(data.x[:10000]) * data.scale, torch.as_tensor(data.y[:10000]).long()
    found = []
    for mu in (0.01, 1.0):
        for mixing in ("model", "layer"):
            losses = [highest_loss(x, y, client, mu, mixing == "layer") for client in range(CLIENTS)]
            blown_up = sum(not loss < BLOWN_UP for loss in losses)
            ended = [round(loss, 2) for loss in losses if loss < BLOWN_UP]
            found.append({"mixing": mixing, "mu": mu, "blown_up": blown_up, "highest": ended})
            middle = f"the highest loss of a batch is {median(ended):.1f} in the middle and {max(ended):.1f} at most"
            print(f"{mixing}, μ = {mu:g}: {blown_up} of {CLIENTS} blew up; of the others {middle}", flush=True)
    made = {"torch": torch.__version__, "python": platform.python_version(), "machine": platform.machine()}
    KEPT.write_text(json.dumps({"clients": CLIENTS, "versions": made, "found": found}, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("mixing.py: give the folder that holds datasets, and nothing else")
    try:
        main(Path(sys.argv[1]))
    except UserError as error:
        sys.exit(f"mixing.py: {error}")
