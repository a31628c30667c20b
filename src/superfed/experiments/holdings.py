"""Who holds what: how many samples of each class lie with each client, and how unlike clients are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from superfed.core.samples import FederatedData
from superfed.data.federation import Federation
from superfed.data.own import OwnData
from superfed.experiments.assemble import data_seed
from superfed.experiments.labels import flatten, varying_settings
from superfed.experiments.schema import DataConfig, RunConfig
from superfed.experiments.strict import plain

_IN_EVERY_TITLE = ("data.dataset.name", "data.num_clients", "data.partition.name")
MOST_CLIENTS = 10_000
MOST_NUMBERS = 10_000_000

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Holdings:
    """What some clients hold; row i is about ``clients[i]``."""

    clients: IntArray
    counts: IntArray
    """[clients, classes]: samples of each class, by their clean labels."""
    parts: IntArray
    """[clients, 3]: samples that train, validate and test. Of overlapping samples, those between the parts do neither."""
    names: Sequence[str] | None = None
    """Who the clients are, where they are people."""


@dataclass(frozen=True)
class DataSetting:
    """A way of dealing data that one run or several share."""

    run: RunConfig
    """The first of them."""
    seeds: tuple[int, ...]
    """Each deals anew; the first one's deal stands for all."""


def data_settings(runs: Sequence[RunConfig]) -> list[DataSetting]:
    """Each distinct way in which these runs' data falls on clients. Noise and newcomers change nothing in it."""
    alike: dict[DataConfig, list[RunConfig]] = {}
    for run in runs:
        alike.setdefault(replace(run.data, label_noise=None, newcomers=0.0), []).append(run)
    return [
        DataSetting(members[0], tuple(dict.fromkeys(data_seed(run) for run in members))) for members in alike.values()
    ]


def titles(settings: Sequence[DataSetting], clients: Sequence[int]) -> list[str]:
    """Such as ``digits, 20 clients, dirichlet``, and whatever else it takes to tell them apart."""
    data = [{"data": plain(setting.run.data)} for setting in settings]
    varying = [key for key in varying_settings(data) if key not in _IN_EVERY_TITLE]
    found = []
    for one, num_clients in zip(data, clients, strict=True):
        flat = flatten(one)
        kind = flat.get("data.partition.name", "" if flat["data.dataset.name"] == "synthetic" else "natural")
        people = f"{num_clients:,} client" + ("" if num_clients == 1 else "s")
        own = [f"{key.rpartition('.')[2]}={flat[key]}" for key in varying if key in flat]
        found.append(", ".join(filter(None, (flat["data.dataset.name"], people, kind, *own))))
    return found


def details(setting: DataSetting) -> str:
    """Every setting that decides the deal."""
    data = plain(setting.run.data)
    mixed = ["overlapping"] if setting.run.data.split.mixed else []
    parts = {key: data[key] for key in ("test_fraction", "validation_fraction", *mixed)}
    sections = (data["dataset"], data["partition"] or {}, parts)
    listed = [", ".join(f"{key}={value}" for key, value in s.items() if key != "name") for s in sections]
    seeds = f"seed {setting.seeds[0]}"
    if len(setting.seeds) > 1:
        others = ", ".join(map(str, setting.seeds[1:]))
        seeds += f" (seed{'s' if len(setting.seeds) > 2 else ''} {others}: dealt anew by the same settings)"
    return "; ".join(filter(None, (*listed, seeds)))


def to_count(num_clients: int, num_classes: int) -> IntArray:
    """The clients whose samples are counted: all of them, or, of very many, a sample that is always the same."""
    most = max(1, min(MOST_CLIENTS, MOST_NUMBERS // num_classes))
    if num_clients <= most:
        return np.arange(num_clients)
    return np.sort(np.random.default_rng(0).choice(num_clients, most, replace=False))


def gather(data: FederatedData, clients: IntArray) -> Holdings:
    """Count the samples of ``clients``; inputs are not touched where the data can do without."""
    counts = np.empty((len(clients), data.num_classes), dtype=np.int64)
    parts = np.empty((len(clients), 3), dtype=np.int64)
    for row, client in enumerate(clients.tolist()):
        labels, parts[row] = _held(data, client)
        counts[row] = np.bincount(labels, minlength=data.num_classes)
    names: Sequence[str] | None = getattr(data, "client_names", None)
    return Holdings(clients, counts, parts, None if names is None else [names[client] for client in clients.tolist()])


def summary(held: Holdings) -> dict[str, float]:
    """What is said of these clients in a few numbers.

    ``label_skew`` is the mean total-variation distance between a client's class distribution and that of all its
    clients' samples together: the share of its samples that would have to change class for the two to be alike. Small
    clients differ by chance already, and ``label_skew_by_chance`` is how much.
    """
    sizes = held.counts.sum(axis=1)
    classes = (held.counts > 0).sum(axis=1)
    whole = held.counts.sum(axis=0) / sizes.sum()
    train, validation, test = held.parts.sum(axis=0).tolist()
    return {
        "samples": int(sizes.sum()),
        "train": train,
        "validation": validation,
        "test": test,
        "size_min": int(sizes.min()),
        "size_median": float(np.median(sizes)),
        "size_max": int(sizes.max()),
        "classes_held": int((whole > 0).sum()),
        "classes_per_client_min": int(classes.min()),
        "classes_per_client_mean": float(classes.mean()),
        "classes_per_client_max": int(classes.max()),
        "label_skew": float(_skews(held.counts, whole).mean()),
        "label_skew_by_chance": _skew_by_chance(sizes, whole),
    }


def as_table(held: Holdings) -> dict[str, list[Any]]:
    """A row per client: how many samples train, validate and test, which classes it holds, and how many samples of each."""
    classes = [np.flatnonzero(counts) for counts in held.counts]
    parts = zip(("train", "validation", "test"), held.parts.T.tolist(), strict=True)
    return {
        "client": held.clients.tolist(),
        **dict(parts),
        "classes": [found.tolist() for found in classes],
        "samples": [counts[found].tolist() for counts, found in zip(held.counts, classes, strict=True)],
    }


def as_plain(setting: DataSetting, data: FederatedData, counted: Holdings) -> dict[str, Any]:
    """Everything, for programs."""
    class_names: Sequence[str] | None = getattr(data, "class_names", None)
    rows = zip(counted.clients.tolist(), counted.parts.tolist(), counted.counts.tolist(), strict=True)
    clients = [
        {"client": client, "train": parts[0], "validation": parts[1], "test": parts[2], "classes": classes}
        for client, parts, classes in rows
    ]
    for row, name in zip(clients, counted.names or (), strict=False):
        row["name"] = name
    return {
        "data": plain(setting.run.data),
        "seed": setting.seeds[0],
        "seeds": list(setting.seeds),
        "num_clients": data.num_clients,
        "num_classes": data.num_classes,
        "class_names": None if class_names is None else list(class_names),
        "counted": len(clients),
        "summary": summary(counted),
        "clients": clients,
    }


def _skews(counts: IntArray, whole: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Each client's total-variation distance from the whole."""
    skews: npt.NDArray[np.float64] = np.abs(counts / counts.sum(axis=1, keepdims=True) - whole).sum(axis=1) / 2
    return skews


def _skew_by_chance(sizes: IntArray, whole: npt.NDArray[np.float64]) -> float:
    """The label skew of clients of these sizes who are dealt from the whole at random; a thousand draws will do."""
    some = np.resize(sizes[:: max(1, len(sizes) // 1000)], 1000)
    skews = _skews(np.random.default_rng(0).multinomial(some, whole), whole)
    # Nothing is dealt twice, so the larger a client's share of all, the less it can differ.
    total = max(2, int(sizes.sum()))
    return float((skews * np.sqrt(np.maximum(total - some, 0) / (total - 1))).mean())


def _held(data: FederatedData, client: int) -> tuple[IntArray, tuple[int, ...]]:
    if isinstance(data, Federation | OwnData):
        return data.labels(client), data.sizes(client)
    parts = [part(client).y.numpy() for part in (data.train, data.validation, data.test)]
    return np.concatenate(parts), tuple(map(len, parts))
