"""What a proximity term does at a high rate: python benchmarks/proximity.py DATA_ROOT

Two Shakespeare roles learn with a StackedLSTM in plain PyTorch, with nothing of the engine: rate 0.8, momentum 0.9 and
batches of 50 as in the published runs, and the distance to a model held back by μ = 0.01 times its square, as the paper's
formula has it; by half of that, as in FedProx; by half the square itself, as in Ditto with λ = 1; times the distances of
single tensors, as the authors' program had it; or not at all. The model is a fresh one, as in the first round, or one that
has learned from a quarter of all roles, as later on. What was found is kept in results/proximity.json.
"""

# mypy: allow-untyped-calls

import json
import platform
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from math import isfinite
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from superfed.bench.networks import NETWORKS
from superfed.bench.plain.modules import ordinary
from superfed.core.errors import UserError
from superfed.core.samples import FederatedData, Samples
from superfed.experiments.assemble import Assembler
from superfed.models.recipe import initialise
from superfed.reproduce.cells import cells

KEPT = Path(__file__).parent.parent / "results" / "proximity.json"
CELL, CLIENTS, EVERY = "table3/shakespeare/natural/fedavg", (63, 168), 20
STEPS, STEPS_AFTER, LEARNED, ONE_IN = 800, 400, 5000, 4
LR, MOMENTUM, DECAY, BATCH, MU = 0.8, 0.9, 1e-4, 50, 0.01
NETWORK = NETWORKS["stacked_lstm"]

Held = Callable[[Sequence[Tensor]], Tensor]


def squared(moved: Sequence[Tensor]) -> Tensor:
    return torch.stack([part.square().sum() for part in moved]).sum()


def by_tensors(moved: Sequence[Tensor]) -> Tensor:
    return torch.stack([(part.square().sum() + 1e-12).sqrt() for part in moved]).sum()


WAYS: dict[str, Held] = {
    "not at all": lambda moved: torch.zeros(()),
    "squared, halved": lambda moved: MU / 2 * squared(moved),
    "squared": lambda moved: MU * squared(moved),
    "by tensors": lambda moved: MU * by_tensors(moved),
    "half the square": lambda moved: squared(moved) / 2,
}


def fresh() -> nn.Module:
    torch.manual_seed(0)
    recipe = NETWORK.recipe.build(NETWORK.input_shape, NETWORK.num_classes)
    return initialise(ordinary(recipe), "xavier_normal")


def first_gradients(samples: Samples) -> dict[str, float]:
    """How long each tensor's is for the first batch: what a plain distance holds against."""
    module = fresh()
    x, y = batch(samples)
    cross_entropy(module(x), y).backward()
    return {name: round(float(p.grad.norm()), 5) for name, p in module.named_parameters() if p.grad is not None}


def batch(samples: Samples) -> tuple[Tensor, Tensor]:
    rows = torch.randint(len(samples.y), (BATCH,))
    return samples.x[rows].long(), samples.y[rows]


def learn(module: nn.Module, near: nn.Module, samples: Samples, held: Held, steps: int) -> list[float | None]:
    """The loss of some batches on the way; None where it is no number any more, which is the end."""
    torch.manual_seed(0)
    anchor = [parameter.detach().clone() for parameter in near.parameters()]
    optimiser = torch.optim.SGD(module.parameters(), lr=LR, momentum=MOMENTUM, weight_decay=DECAY)
    found = list[float | None]()
    for step in range(steps):
        x, y = batch(samples)
        loss = cross_entropy(module(x), y)
        if step % EVERY == 0 or not isfinite(loss.item()):
            found.append(round(loss.item(), 3) if isfinite(loss.item()) else None)
            print(f"step {step}: {loss.item():.3f}", flush=True)
        if not isfinite(loss.item()):
            break
        optimiser.zero_grad()
        moved = [now - then for now, then in zip(module.parameters(), anchor, strict=True)]
        (loss + held(moved)).backward()
        optimiser.step()
    return found


@torch.no_grad()
def right(module: nn.Module, samples: Samples) -> float:
    """Per cent of a client's test samples."""
    named = torch.cat([module(part.long()).argmax(dim=1) for part in samples.x.split(200)])
    return round(100 * float((named == samples.y).float().mean()), 2)


def from_a_fresh_one(data: FederatedData) -> dict[str, object]:
    """A client's first update, near what it starts from."""
    found = dict[str, object]()
    for client in CLIENTS:
        for name, held in WAYS.items():
            print(f"fresh, client {client}, {len(data.train(client).y):,} samples, held back: {name}", flush=True)
            found[f"client {client}, {name}"] = learn(fresh(), fresh(), data.train(client), held, STEPS)
    return found


def from_one_that_learned(data: FederatedData) -> dict[str, object]:
    """Five epochs, though not more than some steps, near a model that many roles taught; as Ditto's, from a fresh one too."""
    parts = [data.train(client) for client in range(0, data.num_clients, ONE_IN)]
    some = Samples(torch.cat([part.x for part in parts]), torch.cat([part.y for part in parts]))
    taught = fresh()
    print(f"taught by {len(parts)} roles, {len(some.y):,} samples", flush=True)
    learn(taught, taught, some, WAYS["not at all"], LEARNED)
    cases = [(taught, name) for name in WAYS if name != "by tensors"] + [(fresh(), "half the square")]
    found = dict[str, object]()
    for client in CLIENTS:
        samples, test = data.train(client), data.test(client)
        steps = min(STEPS_AFTER, 5 * (len(samples.y) // BATCH))
        found[f"client {client}, as it was"] = {"steps": 0, "right": right(taught, test)}
        for start, name in cases:
            case = f"client {client}, from the {'taught' if start is taught else 'fresh'} one, {name}"
            print(case, flush=True)
            module = deepcopy(start)
            loss = learn(module, taught, samples, WAYS[name], steps)
            found[case] = {"steps": steps, "right": right(module, test), "loss": loss}
    return found


def main(root: Path) -> None:
    (cell,) = (cell for cell in cells("table3", "full") if cell.id == CELL)
    data = Assembler(root).data(cell.config())
    kept = {
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "machine": platform.machine()},
        "mu": MU,
        "lr": LR,
        "every": EVERY,
        "first gradients": {f"client {client}": first_gradients(data.train(client)) for client in CLIENTS},
        "loss": from_a_fresh_one(data),
        "taught": from_one_that_learned(data),
    }
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("proximity.py: give the folder that holds datasets")
    try:
        main(Path(sys.argv[1]))
    except UserError as error:
        sys.exit(f"proximity.py: {error}")
