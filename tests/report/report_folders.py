"""Small run folders, written with the store's own writers."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from superfed.store.files import read_json, write_json
from superfed.store.layout import ExperimentFolder, RunFolder
from superfed.store.tables import write_table

READINGS = ("validated", "validated_shared", "best_shared", "oracle", "fixed")
FEDAVG = {"name": "fedavg"}
SUPERFED = {"name": "superfed", "mixing": "model", "mu": 0.01, "nu": 1.0}
Stats = tuple[float, float]


def config(algorithm: dict[str, Any], seed: int, **sections: Any) -> dict[str, Any]:
    """A resolved config; ``sections`` replace whole sections."""
    return {
        "name": "trial",
        "description": "A trial.",
        "seed": seed,
        "algorithm": algorithm,
        "data": {"dataset": {"name": "digits"}, "num_clients": 20, "label_noise": None},
        "model": {"name": "two_nn", "width": 200},
        "training": {"rounds": 40, "clients_per_round": 5, "lr": 0.05},
        "engine": {"device": "auto", "dtype": "float32"},
    } | sections


def metrics(top1: Stats) -> dict[str, Any]:
    """All metrics at one λ; those that are not accuracy follow from it, so that each is a different number."""
    mean, std = top1
    return {
        "top1": {"mean": mean, "std": std, "worst10": mean / 2},
        "top5": {"mean": (1 + mean) / 2, "std": 0.0},
        "loss": {"mean": 3 - mean, "std": 0.0},
        "ece": {"mean": mean / 4, "std": 0.0},
        "mce": {"mean": mean / 3, "std": 0.0},
    }


def summary(readings: dict[str, Stats], by_lambda: Sequence[Stats], mixes: bool) -> dict[str, Any]:
    lambdas: list[float | None] = [i / (len(by_lambda) - 1) for i in range(len(by_lambda))] if mixes else [None]
    shared = {"validated_shared": 0.5, "best_shared": 1.0, "fixed": 0.5} if mixes else {}
    return {
        "headline": "validated",
        "num_clients": 20,
        "never_sampled": 2,
        "diverged_updates": 0,
        "bytes_down": 2_000_000,
        "bytes_up": 1_000_000,
        "readings": {name: {"lam": shared.get(name)} | metrics(top1) for name, top1 in readings.items()},
        "by_lambda": [{"lam": lam} | metrics(top1) for lam, top1 in zip(lambdas, by_lambda, strict=True)],
    }


def unfinished_run(path: Path, settings: dict[str, Any], title: str, status: str = "running") -> RunFolder:
    run = RunFolder(path)
    run.write_config(settings)
    run.write_info(
        {
            "name": path.name,
            "title": title,
            "status": status,
            "fingerprint": "0123456789abcdef" * 4,
            "parameters": 55210,
            "versions": {"python": "3.11.7", "torch": "2.13.0"},
            "hardware": {"device": "cpu", "cores": 2},
        }
    )
    return run


def finished_run(path: Path, settings: dict[str, Any], title: str, results: dict[str, Any]) -> RunFolder:
    run = unfinished_run(path, settings, title, "finished")
    write_json(run.summary_file, _as_stored(results))
    return run


def plain_run(path: Path, top1: Stats, seed: int = 0, title: str = "FedAvg", **sections: Any) -> RunFolder:
    """A run of a method without λ."""
    run = finished_run(
        path, config(FEDAVG, seed, **sections), title, summary(dict.fromkeys(READINGS, top1), [top1], mixes=False)
    )
    write_curve(run, [None], top1[0])
    return run


def mixing_run(
    path: Path, readings: Sequence[Stats], by_lambda: Sequence[Stats], seed: int = 0, nu: float = 1.0, **sections: Any
) -> RunFolder:
    """A run of SuPerFed-MM; ``readings`` in the order of their names, ``by_lambda`` from λ = 0 to 1."""
    settings = config(SUPERFED | {"nu": nu}, seed, **sections)
    results = summary(dict(zip(READINGS, readings, strict=True)), by_lambda, mixes=True)
    run = finished_run(path, settings, "SuPerFed-MM", results)
    write_curve(run, [0.0, 0.5, 1.0], readings[0][0])
    return run


def with_own(run: RunFolder, top1: Stats) -> RunFolder:
    """``run`` as of a method that chooses a λ itself."""
    results = read_json(run.summary_file)
    results["readings"]["own"] = {"lam": None} | metrics(top1)
    write_json(run.summary_file, _as_stored(results))
    return run


def with_newcomers(
    run: RunFolder, arriving: Stats | None, adapted: Stats, epochs: int = 5, num_clients: int = 4
) -> RunFolder:
    """``run`` with newcomers: ``adapted`` is the headline, the n-th reading after it n percent above."""
    mean, std = adapted
    met = {
        "num_clients": num_clients,
        "epochs": epochs,
        "arriving": None if arriving is None else metrics(arriving),
        "adapted": {name: {"lam": None} | metrics((mean + i / 100, std)) for i, name in enumerate(READINGS)},
    }
    write_json(run.summary_file, _as_stored(read_json(run.summary_file) | {"newcomers": met}))
    return run


def write_curve(run: RunFolder, lambdas: Sequence[float | None], last: float) -> None:
    """Two evaluations: after 0 rounds a tenth of ``last`` at every λ, after 40 rounds ``last`` at λ = 0.5, else 0."""
    rows = [(after, lam) for after in (0, 40) for lam in lambdas]
    top1 = [last / 10 if after == 0 else last * (lam in (None, 0.5)) for after, lam in rows]
    write_table(run.curve, {"round": [r for r, _ in rows], "lam": [lam for _, lam in rows], "top1": top1})


def demo(folder: Path) -> list[RunFolder]:
    """SuPerFed-MM and FedAvg with three seeds each, FedAvg first."""
    runs = [
        plain_run(folder / f"fedavg-seed{seed}", (mean, std), seed)
        for seed, mean, std in ((0, 0.5, 0.2), (1, 0.6, 0.25), (2, 0.7, 0.3))
    ]
    for seed, shift in ((0, 0.0), (1, 0.02), (2, 0.04)):
        readings = [(level + shift, 0.1 + shift) for level in (0.90, 0.91, 0.92, 0.93, 0.89)]
        curve = [(0.6 + shift, 0.3), (0.89 + shift, 0.1 + shift), (0.92 + shift, 0.1)]
        runs.append(mixing_run(folder / f"superfed-mm-seed{seed}", readings, curve, seed))
    ExperimentFolder(folder).write_info({"name": "trial", "runs": [run.name for run in runs]}, {})
    return runs


def _as_stored(value: Any) -> Any:
    """What is not a finite number is null in a summary."""
    if isinstance(value, dict):
        return {key: _as_stored(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_stored(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
