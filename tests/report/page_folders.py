"""Run folders with everything a page shows, of as many clients as one likes, without training anything."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from report_folders import FEDAVG, SUPERFED, config, unfinished_run, write_curve

from superfed.engine.evaluate import NO_LAMBDA, ClientScores, lambda_grid
from superfed.experiments.holdings import Holdings, as_table, summary
from superfed.experiments.results import Results
from superfed.metrics.scores import BINS, METRICS, NUM_BINS
from superfed.store.files import write_json
from superfed.store.layout import ExperimentFolder, RunFolder
from superfed.store.tables import write_table

NUM_CLASSES = 10
DIFFERENT = 400
"""Of more clients, some are alike: it is quicker."""


def whole_run(
    path: Path,
    num_clients: int,
    algorithm: dict[str, Any] = SUPERFED,
    title: str = "SuPerFed-MM",
    seed: int = 0,
    class_names: Sequence[str] | None = None,
) -> RunFolder:
    """A finished run with random results."""
    rng = np.random.default_rng([seed, len(title)])
    mixes = algorithm["name"] != "fedavg"
    lambdas = lambda_grid(11) if mixes else NO_LAMBDA
    some = [_scores(rng, lambdas) for _ in range(min(num_clients, DIFFERENT))]
    scores = [some[client % DIFFERENT] for client in range(num_clients)]
    scores[-1] = _scores(rng, lambdas, empty=True)
    results = Results(range(num_clients), scores)
    run = unfinished_run(path, config(algorithm, seed), title, "finished")
    write_table(run.clients, results.clients_table(), durable=False)
    write_table(run.readings, results.readings_table(), durable=False)
    write_table(run.bins, results.bins_table(), durable=False)
    write_json(run.summary_file, results.summary([]), durable=False)
    write_json(run.timing_file, {"training": 12.5, "evaluation": 2.25}, durable=False)
    write_curve(run, list(lambdas) if mixes else [None], 0.9)
    deal = np.random.default_rng(seed)
    counts = deal.integers(0, 30, (num_clients, NUM_CLASSES)) * (deal.random((num_clients, NUM_CLASSES)) < 0.5)
    counts[:, 0] += 1
    parts = np.stack([counts.sum(axis=1), np.zeros(num_clients), np.zeros(num_clients)], axis=1).astype(np.int64)
    held = Holdings(np.arange(num_clients), counts, parts)
    write_table(run.holdings, as_table(held), durable=False)
    run.write_info(run.info() | {"holdings": summary(held), "fingerprint": f"{seed}" * 64})
    if class_names is not None:
        write_json(run.names_file, {"class": list(class_names), "client": None})
    return run


def whole_experiment(folder: Path, num_clients: int, class_names: Sequence[str] | None = None) -> list[RunFolder]:
    """SuPerFed-MM and FedAvg, two seeds each."""
    runs = []
    for seed in (0, 1):
        names: dict[str, Any] = {"seed": seed, "class_names": class_names}
        runs.append(whole_run(folder / f"superfed-mm-seed{seed}", num_clients, **names))
        runs.append(whole_run(folder / f"fedavg-seed{seed}", num_clients, FEDAVG, "FedAvg", **names))
    about = {"name": "trial", "created": "2026-01-01T00:00:00+00:00", "runs": [run.name for run in runs]}
    ExperimentFolder(folder).write_info(about, {"name": "trial", "seed": [0, 1]})
    return runs


def _scores(rng: np.random.Generator, lambdas: Sequence[float], *, empty: bool = False) -> ClientScores:
    """Better in the middle; what is right and how sure the model is fall where they may."""
    width, samples = len(lambdas), 0 if empty else int(rng.integers(3, 40))
    if empty:
        nothing = {name: np.full(width, np.nan) for name in METRICS}
        return ClientScores(tuple(lambdas), 0, 0, nothing, nothing | {BINS: np.zeros((width, NUM_BINS, 3))})
    level = 0.5 + 0.4 * rng.random() - 0.3 * np.abs(np.nan_to_num(np.array(lambdas), nan=0.5) - rng.random())
    hits = rng.binomial(samples, np.clip(level, 0, 1))
    bins = np.zeros((width, NUM_BINS, 3))
    for column in range(width):
        high = int(rng.integers(0, samples + 1))
        right = min(int(hits[column]), high)
        bins[column, 14] = high, high * 0.97, right
        bins[column, 7] = samples - high, (samples - high) * 0.5, min(int(hits[column]) - right, samples - high)
    values = {name: rng.random(width) for name in METRICS} | {"top1": hits / samples}
    on_validation = {name: rng.random(width) for name in METRICS}
    return ClientScores(tuple(lambdas), 5, samples, on_validation, values | {BINS: bins})
