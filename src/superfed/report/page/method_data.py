"""What the page's pictures of one method are drawn from."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superfed.report.bins import Bins, added, calibration
from superfed.report.client_scores import ClientScores
from superfed.report.comparison import Row
from superfed.report.loading import Finished
from superfed.report.page.packed import decimals, whole
from superfed.report.page.source import Source
from superfed.report.rounds import progress
from superfed.store.files import read_json


def method_data(row: Row, index: int, source: Source, room: int) -> dict[str, Any]:
    """Plain JSON types. ``room`` is for how many clients of a run there is room in the page."""
    return {
        "name": row.name,
        "index": index,
        "mixes": row.mixes,
        "runs": [_run(run, source, room) for run in row.members],
        "curve": curve_data([run.folder for run in row.members]),
        "bins": _bins([found for run in row.members if (found := source.bins(run)) is not None]),
        "path": _path(row, source),
        "bytes": {"up": row.bytes_up, "down": row.bytes_down},
        "seconds": _seconds(row.members),
    }


def curve_data(runs: Sequence[Any]) -> dict[str, Any] | None:
    """Accuracy by round; lists for each λ."""
    found = progress(runs)
    if found is None:
        return None
    return {
        "lambdas": found.lambdas,
        "rounds": found.rounds,
        "mean": [[known(v, 5) for v in values] for values in found.mean],
        "spread": [[known(v, 5) for v in values] for values in found.spread],
    }


def known(value: float | None, digits: int) -> float | None:
    """Rounded; JSON has no word for not-a-number but null."""
    return None if value is None or not math.isfinite(value) else round(float(value), digits)


def _run(run: Finished, source: Source, room: int) -> dict[str, Any]:
    points = run.summary["by_lambda"]
    statistics = ("mean", "std", "worst10")
    data: dict[str, Any] = {
        "name": run.name,
        "seed": run.seed,
        "data": source.data_key(run),
        "lambdas": [point["lam"] for point in points],
        "top1": {name: [point["top1"].get(name) for point in points] for name in statistics},
        "clients": None,
        "bins": None,
    }
    scores = source.scores(run)
    if scores is not None:
        rows = np.linspace(0, len(scores.clients) - 1, min(room, len(scores.clients))).round().astype(np.int64)
        shown = scores.some(rows)
        bins = source.bins(run)
        data["clients"] = _clients(shown) | {"of": len(scores.clients)}
        data["bins"] = None if bins is None else _client_bins(shown, bins)
    return data


def _clients(scores: ClientScores) -> dict[str, Any]:
    return {
        "ids": whole(scores.clients),
        "lambdas": scores.lambdas,
        "samples": whole(scores.samples),
        "hits": whole(scores.hits),
        "loss": decimals(scores.loss),
        "chosen": whole(scores.chosen),
    }


def _client_bins(scores: ClientScores, bins: Bins) -> dict[str, Any]:
    """The bins of all clients one after another's; ``starts`` says where each one's begin, and the last where they end."""
    order = np.argsort(scores.clients, kind="stable")
    own = bins.of(scores.clients[order])
    counts = np.searchsorted(own.client, scores.clients, "right") - np.searchsorted(own.client, scores.clients, "left")
    return {
        "starts": whole(np.concatenate([[0], np.cumsum(counts)])),
        "bin": whole(own.bin),
        "samples": whole(own.samples),
        "confidence": decimals(own.confidence),
        "hits": whole(own.hits),
    }


def _bins(seeds: Sequence[Bins]) -> dict[str, Any] | None:
    """All clients' samples together, over all seeds: at the validated λ, and at each λ that all seeds have."""
    if not seeds:
        return None
    together = added([bins.together for bins in seeds])
    by_seed = [dict(bins.by_lambda) for bins in seeds]
    lambdas = [lam for lam in by_seed[0] if all(lam in found for found in by_seed)]
    ece, mce = calibration(together)
    return {
        "validated": _table(together),
        "lambdas": lambdas,
        "by_lambda": [_table(added([found[lam] for found in by_seed])) for lam in lambdas],
        "ece": known(ece, 6),
        "mce": known(mce, 6),
    }


def _table(together: NDArray[np.float64]) -> list[list[float | None]]:
    """Samples, mean confidence and accuracy, by bin."""
    samples, confidence, hits = together.T
    shares = np.maximum(samples, 1)
    return [
        [int(n), known(c, 5), known(a, 5)]
        for n, c, a in zip(samples.tolist(), confidence / shares, hits / shares, strict=True)
    ]


def _path(row: Row, source: Source) -> dict[str, Any] | None:
    found = source.path(row)
    if found is None:
        return None
    return {
        "lambdas": found.lambdas,
        "loss": [known(value, 6) for value in found.loss],
        "barrier": known(found.barrier, 6),
        "at": found.at,
    }


def _seconds(members: Sequence[Finished]) -> dict[str, float]:
    """By phase, a run's on average; nothing where it was not kept."""
    phases: dict[str, list[float]] = {}
    for run in members:
        try:
            timing = read_json(run.folder.timing_file)
            for phase, seconds in timing.items():
                phases.setdefault(str(phase), []).append(float(seconds))
        except Exception:  # whatever the file holds, it is an aside
            continue
    return {phase: round(sum(values) / len(members), 3) for phase, values in phases.items()}
