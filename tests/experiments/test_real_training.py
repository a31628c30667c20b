"""Short runs on the real datasets, where they are: personal models are clearly better than the global one."""

import json
from pathlib import Path

import pytest

from superfed.data.cifar10 import BATCHES, FOLDER
from superfed.experiments.load import load_config
from superfed.experiments.runner import start
from support.real_data import root_with

pytestmark = pytest.mark.real_data


def accuracies(out: Path) -> dict[str, float]:
    summaries = {path.parent.name: json.loads(path.read_text()) for path in out.glob("*/summary.json")}
    return {name: summary["readings"]["validated"]["top1"]["mean"] for name, summary in summaries.items()}


def test_mnist_pathological(tmp_path: Path) -> None:
    root = root_with("MNIST/raw/train-images-idx3-ubyte", "MNIST/raw/train-labels-idx1-ubyte")
    changes = ["training.rounds=10", "training.local_epochs=1", "training.clients_per_round=10"]
    start(load_config("mnist", changes), tmp_path / "out", root)
    found = accuracies(tmp_path / "out")
    assert found["superfed-mm-seed0"] > 0.75
    assert found["superfed-mm-seed0"] > found["fedavg-seed0"] + 0.1


def test_cifar10_pathological(tmp_path: Path) -> None:
    root = root_with(*(f"{FOLDER}/{batch}" for batch in BATCHES))
    changes = [
        "algorithm=[{name: fedavg}, {name: superfed, nu: 1.0, start: 0.0}]",
        "model={name: two_cnn, channels: 8, width: 64}",
        "training.rounds=4",
        "training.clients_per_round=25",
        "training.local_epochs=1",
        "training.lr=0.03",
    ]
    start(load_config("cifar10", changes), tmp_path / "out", root)
    found = accuracies(tmp_path / "out")
    assert found["superfed-mm-seed0"] > 0.35  # guessing is 0.1; knowing one's two classes and no more is 0.5
    assert found["superfed-mm-seed0"] > found["fedavg-seed0"] + 0.2
