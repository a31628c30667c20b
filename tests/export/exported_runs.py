"""Small finished runs to export from."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import superfed
from superfed.engine.fusing import CPU, evaluating
from superfed.experiments.runner import start

NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "two_nn": ("mnist", {"width": 6}),
    "two_cnn": ("mnist", {"channels": 2, "width": 6}),
    "resnet": ("cifar10", {"depth": 8, "channels": 4}),
    "mobilenet": ("cifar10", {"blocks": "8 8/2", "multiplier": 0.25, "norm": "group"}),
    "vgg": ("cifar10", {"layers": "4 pool 4", "hidden_layers": 1, "width": 6}),
    "stacked_lstm": ("shakespeare", {"embedding": 4, "width": 6}),
}
"""Every network of the zoo, tiny, and what its data is like. ResNet's normalisation is by batch."""


def run_of(folder: Path, network: str, algorithm: object = "superfed", **changes: Any) -> superfed.FittedRun:
    like, settings = NETWORKS[network]
    given: dict[str, object] = {"dataset": {"name": "stand_in", "like": like}}
    given |= {} if like == "shakespeare" else {"num_clients": 4, "partition": "iid"}
    config: dict[str, Any] = {
        "algorithm": algorithm,
        "data": given,
        "model": {"name": network, **settings},
        "training": {"rounds": 2, "clients_per_round": 2, "local_epochs": 1, "lr": 0.05},
        "engine": {"workers": 1},
    }
    return superfed.load(start(config | changes, folder))


def own_scores(run: superfed.FittedRun, w: Tensor, x: Tensor) -> np.ndarray:
    """What the run's own evaluation finds."""
    with torch.no_grad():
        return evaluating(run.task.model, CPU)(w, x).numpy().copy()


PEOPLE = ["anna", "bob/../x", 'c"<b>λ', "7"]
ANIMALS = np.array(["cat", "dog & co", "emu "])


def people(folder: Path, algorithm: object = "superfed", **settings: Any) -> Path:
    """A run on a table of four clients with odd names; where it lies."""
    import pyarrow
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 160)
    x = rng.normal(size=(160, 5)).astype("float32") + 3 * np.eye(3, 5, dtype="float32")[y]
    columns = {f"f{i}": x[:, i] for i in range(5)}
    folder.mkdir(parents=True, exist_ok=True)
    owners = rng.permutation(np.repeat(PEOPLE, 40))
    table = pyarrow.table({"person": owners, "animal": ANIMALS[y]} | columns)
    pyarrow.parquet.write_table(table, folder / "table.parquet")
    dataset = {"name": "table", "path": str(folder / "table.parquet"), "client": "person", "label": "animal"}
    config = {
        "algorithm": algorithm,
        "data": {"dataset": dataset},
        "model": {"name": "two_nn", "width": 8},
        "training": {"rounds": 6, "clients_per_round": 4, "local_epochs": 3, "lr": 0.05},
        "engine": {"workers": 1},
    }
    return start(config | settings, folder / "out")
