"""Records of runs that never were."""

import numpy as np

from superfed.experiments.surface import STEPS
from superfed.reproduce.landscape import Landscape
from superfed.reproduce.paper import Plain
from superfed.reproduce.provenance import Made
from superfed.reproduce.record import Record
from superfed.reproduce.tallies import Tallies, Tally

MADE = Made(
    folder="mnist-fedavg-0123abcd-seed0/fedavg-seed0",
    began="2026-01-31T12:00:00+00:00",
    seconds=90.0,
    settings="0123abcd",
    data="f00d",
    engine={},
    versions={"python": "3.11.7", "superfed": "0.1.0", "torch": "2.11.0"},
    hardware={"machine": "x86_64", "system": "Linux", "cores": 16, "device": "NVIDIA H200"},
    stopped=None,
)
METRICS = ("top1", "top5", "loss", "ece_batchwise", "mce_batchwise", "ece", "mce")


def record(cell: str, seed: int = 0, mean: float = 0.9, made: Made = MADE) -> Record:
    """``mean`` in every reading; over λ it is highest in the middle."""
    over = {metric: {"mean": mean, "std": 0.05} for metric in METRICS}
    readings = dict.fromkeys(("validated", "validated_shared", "best_shared", "oracle", "fixed"), over)
    by_lambda: list[Plain] = []
    if cell.startswith("figure"):
        by_lambda = [{"lam": i / 10, "top1": {"mean": mean - abs(i - 5) / 50, "std": 0.05}} for i in range(11)]
    surfaces = {}
    if cell.startswith("figureA"):
        surfaces = {view: landscape(cell) for view in ("personal", "updates")}
    counted = tallies(mean, seed, met="newcomers" in cell) if cell.startswith("questions") else None
    return Record(cell, seed, 100, readings, made, tuple(by_lambda), surfaces, counted)


def tallies(mean: float, seed: int = 0, *, met: bool = False) -> Tallies:
    """100 clients with 20 test samples each, of which about ``mean`` are right; the first three were never sampled."""
    samples = (20,) * 100
    hits = np.random.default_rng(seed).binomial(20, mean, size=100)
    readings = {"validated": tuple(hits.tolist()), "oracle": tuple(np.minimum(hits + 1, 20).tolist())}
    newcomers = Tally(samples, readings | {"arriving": tuple((hits // 2).tolist())}) if met else None
    return Tallies(Tally(samples, readings), (0, 1, 2), (3,), newcomers, epochs=10 if met else 0)


def landscape(title: str, lift: float = 0.1) -> Landscape:
    """A bowl around (0, 0)."""
    side = [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0]

    def height(x: float, y: float) -> float:
        return lift + x * x + y * y

    corners = [("global model", 0.0, 0.0), ("local model of client 3", 1.0, 0.0), ("local model of client 7", 0.5, 1.0)]
    return Landscape(
        title=title,
        window=[-1.0, 2.0, -1.0, 2.0],
        loss=[[height(x, y) for x in side] for y in side],
        corners=[{"name": name, "x": x, "y": y, "loss": height(x, y), "top1": 0.5} for name, x, y in corners],
        lines=[[height(x * i / STEPS, y * i / STEPS) for i in range(STEPS + 1)] for _, x, y in corners[1:]],
        mixes=True,
        num_clients=20,
        num_samples=7200,
    )
