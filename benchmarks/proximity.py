"""What a proximity term does at a high rate: python benchmarks/proximity.py DATA_ROOT

Two Shakespeare roles learn from a fresh StackedLSTM in plain PyTorch, with nothing of the engine: rate 0.8, momentum 0.9,
batches of 50 as in the published runs, and the distance to where it started held back by μ = 0.01 times its square, as the
paper's formula has it; times the distances of single tensors, as the authors' program had it; or not at all. What was found is
kept in results/proximity.json.
"""

# mypy: allow-untyped-calls

import json
import platform
import sys
from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from superfed.bench.networks import NETWORKS
from superfed.bench.plain.modules import ordinary
from superfed.core.errors import UserError
from superfed.experiments.assemble import Assembler
from superfed.models.recipe import initialise
from superfed.reproduce.cells import cells

KEPT = Path(__file__).parent.parent / "results" / "proximity.json"
CELL, CLIENTS, STEPS, EVERY = "table3/shakespeare/natural/fedavg", (63, 168), 800, 20
LR, MOMENTUM, DECAY, BATCH, MU = 0.8, 0.9, 1e-4, 50, 0.01
NETWORK = NETWORKS["stacked_lstm"]

Held = Callable[[Sequence[Tensor]], Tensor]
WAYS: dict[str, Held] = {
    "not at all": lambda moved: torch.zeros(()),
    "squared": lambda moved: MU * torch.stack([part.square().sum() for part in moved]).sum(),
    "by tensors": lambda moved: MU * torch.stack([(part.square().sum() + 1e-12).sqrt() for part in moved]).sum(),
}


def fresh() -> nn.Module:
    torch.manual_seed(0)
    recipe = NETWORK.recipe.build(NETWORK.input_shape, NETWORK.num_classes)
    return initialise(ordinary(recipe), "xavier_normal")


def first_gradients(x: Tensor, y: Tensor) -> dict[str, float]:
    """How long each tensor's is for the first batch: what a plain distance holds against."""
    module = fresh()
    rows = torch.randint(len(y), (BATCH,))
    cross_entropy(module(x[rows]), y[rows]).backward()
    return {name: round(float(p.grad.norm()), 5) for name, p in module.named_parameters() if p.grad is not None}


def curve(x: Tensor, y: Tensor, held: Held) -> list[float | None]:
    """The loss of some batches on the way; None where it is no number any more, which is the end."""
    module = fresh()
    start = [parameter.detach().clone() for parameter in module.parameters()]
    optimiser = torch.optim.SGD(module.parameters(), lr=LR, momentum=MOMENTUM, weight_decay=DECAY)
    found = list[float | None]()
    for step in range(STEPS):
        rows = torch.randint(len(y), (BATCH,))
        loss = cross_entropy(module(x[rows]), y[rows])
        if step % EVERY == 0 or not isfinite(loss.item()):
            found.append(round(loss.item(), 3) if isfinite(loss.item()) else None)
            print(f"step {step}: {loss.item():.3f}", flush=True)
        if not isfinite(loss.item()):
            break
        optimiser.zero_grad()
        moved = [now - then for now, then in zip(module.parameters(), start, strict=True)]
        (loss + held(moved)).backward()
        optimiser.step()
    return found


def main(root: Path) -> None:
    (cell,) = (cell for cell in cells("table3", "full") if cell.id == CELL)
    data = Assembler(root).data(cell.config())
    found, gradients = {}, {}
    for client in CLIENTS:
        samples = data.train(client)
        gradients[f"client {client}"] = first_gradients(samples.x.long(), samples.y)
        for name, held in WAYS.items():
            print(f"client {client}, {len(samples.y):,} samples, held back: {name}", flush=True)
            found[f"client {client}, {name}"] = curve(samples.x.long(), samples.y, held)
    made = {"torch": torch.__version__, "python": platform.python_version(), "machine": platform.machine()}
    kept = {"versions": made, "mu": MU, "lr": LR, "every": EVERY, "first gradients": gradients, "loss": found}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("proximity.py: give the folder that holds datasets")
    try:
        main(Path(sys.argv[1]))
    except UserError as error:
        sys.exit(f"proximity.py: {error}")
