"""A newcomer's inputs are taken as those of the run's clients were, and as ``predict`` takes them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from superfed.data.dealt import DealtDataset
from superfed.data.from_python import from_arrays
from superfed.experiments.onboard import read_client

RNG = np.random.default_rng(0)


def trained_on(x: np.ndarray, scale: float) -> Any:
    """As much of a task as is asked for."""
    pool = from_arrays(x, np.arange(len(x)) % 2, np.zeros(len(x), int), scale=scale)
    return SimpleNamespace(data=DealtDataset.deal(pool), model=SimpleNamespace(dtype=torch.float32))


@pytest.mark.parametrize(
    ("x", "scale"),
    [
        (RNG.integers(0, 256, (20, 3), dtype=np.uint8), 1 / 255),
        (RNG.normal(size=(20, 3)).astype("float32"), 0.1),
        (RNG.integers(0, 9, (20, 3)).astype("int32"), 0.5),
    ],
)
def test_raw_inputs_are_scaled_whatever_their_type(x: np.ndarray, scale: float, tmp_path: Path) -> None:
    trained = trained_on(x, scale)
    np.savez(tmp_path / "newcomer.npz", x=x, y=np.arange(20) % 2)
    client = read_client(tmp_path / "newcomer.npz", trained)
    found = torch.cat([part(0).x for part in (client.train, client.validation, client.test)])
    expected = trained.data.pool.inputs(np.arange(20))
    assert torch.equal(found[:, 0].sort().values, expected[:, 0].sort().values)


def test_where_pixels_are_expected_numbers_are_scaled_already(tmp_path: Path) -> None:
    trained = trained_on(RNG.integers(0, 256, (20, 3), dtype=np.uint8), 1 / 255)
    np.savez(tmp_path / "newcomer.npz", x=np.full((20, 3), 0.25), y=np.arange(20) % 2)
    client = read_client(tmp_path / "newcomer.npz", trained)
    assert (client.train(0).x == 0.25).all()
