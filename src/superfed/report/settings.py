"""What tells two rows of a comparison apart."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

# The seed makes a repetition; the others name the run or say how it was computed and followed.
_NO_DIFFERENCE = ("seed", "name", "description", "engine", "tracking")
# What was learnt from comes first, then how: a label keeps the first keys that suffice.
_SECTIONS = ("data", "algorithm", "model", "training", "evaluation", "engine")

Settings = dict[str, Any]


def flatten(settings: Mapping[str, Any], prefix: str = "") -> Settings:
    """Dotted keys. What is null counts as absent, so that ``label_noise: null`` and ``label_noise: {…}`` compare."""
    flat: Settings = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        elif value is not None:
            flat[f"{prefix}{key}"] = value
    return flat


def essential(config: Mapping[str, Any]) -> Settings:
    """The settings that decide the numbers, seed apart. Of ``engine`` that is the precision and nothing else."""
    flat = flatten({key: value for key, value in config.items() if key not in _NO_DIFFERENCE})
    engine = config.get("engine")
    if isinstance(engine, Mapping) and "dtype" in engine:
        flat["engine.dtype"] = engine["dtype"]
    return flat


def identity(value: object) -> str:
    """Equal for equal values, whatever the order of their keys."""
    return json.dumps(value, sort_keys=True, default=str)


def differences(rows: Sequence[Settings], methods: Sequence[str]) -> list[Settings]:
    """For each row the settings in which it differs: a method's own from that method's other rows, the rest from all."""
    found: list[Settings] = [{} for _ in rows]
    for key in _ordered_keys(rows):
        for members in _comparable(key, methods):
            if len({_value(rows[i], key) for i in members}) > 1:
                for i in members:
                    if key in rows[i]:
                        found[i][key] = rows[i][key]
    return found


def labels(differing: Sequence[Settings], methods: Sequence[str]) -> list[str]:
    """As few of the differing settings as tell the rows apart: a model that changes with the dataset goes unsaid."""
    chosen: list[str] = []
    for key in _ordered_keys(differing):
        values: dict[object, set[str]] = {}
        for members in _comparable(key, methods):
            for i in members:
                alike = (members[0], *(_value(differing[i], other) for other in chosen))
                values.setdefault(alike, set()).add(_value(differing[i], key))
        if any(len(distinct) > 1 for distinct in values.values()):
            chosen.append(key)
    short = short_names(chosen)
    return [", ".join(f"{short[key]}={shown(row[key])}" for key in chosen if key in row) for row in differing]


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """The last part of each key, or of its parent where that is ``name``; all of it where it would be ambiguous."""
    short = {key: key.removesuffix(".name").rpartition(".")[2] for key in keys}
    taken = ["seed", *short.values()]  # a run has a seed of its own
    return {key: word if taken.count(word) == 1 else key for key, word in short.items()}


def shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def _value(row: Settings, key: str) -> str:
    return identity(row[key]) if key in row else ""


def _ordered_keys(rows: Sequence[Settings]) -> list[str]:
    keys = dict.fromkeys(key for row in rows for key in row)
    place = {section: i for i, section in enumerate(_SECTIONS)}
    return sorted(keys, key=lambda key: place.get(key.partition(".")[0], len(place)))


def _comparable(key: str, methods: Sequence[str]) -> list[list[int]]:
    """The rows whose values of ``key`` can be held against each other."""
    if not key.startswith("algorithm."):
        return [list(range(len(methods)))]
    return [[i for i, other in enumerate(methods) if other == method] for method in dict.fromkeys(methods)]
