"""Names for the runs of a grid: the method and whatever differs between them."""

import re
from collections.abc import Sequence
from typing import Any

from superfed.experiments.schema import RunConfig


def run_names(configs: Sequence[RunConfig]) -> list[str]:
    """A folder name for each run, all different: its title, the settings that vary, its seed."""
    varying = varying_settings([config.as_plain() for config in configs])
    names = []
    for config in configs:
        flat = flatten(config.as_plain())
        parts = [config.algorithm.title]
        for key in varying:
            if key in flat and key not in ("seed", "algorithm.name", "algorithm.mixing"):
                parts.append(_part(key, flat[key]))
        names.append("-".join([*(_clean(part) for part in parts), f"seed{config.seed}"]))
    taken: dict[str, int] = {}
    for index, name in enumerate(names):
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:
            names[index] = f"{name}-{taken[name]}"
    return names


def varying_settings(configs: Sequence[dict[str, Any]]) -> list[str]:
    """The keys whose values differ between configs that have them and made the same choice of method, model and so on.

    A config that has nothing where others have a whole section differs from them in all of that section's keys.
    """
    flats = [flatten(config) for config in configs]
    varying = []
    for key in dict.fromkeys(key for flat in flats for key in flat):
        values: dict[object, set[str]] = {}
        for flat in flats:
            if key in flat or _inside_nothing(key, flat):
                values.setdefault(_chosen(key, flat), set()).add(repr(flat.get(key)))
        if any(len(found) > 1 for found in values.values()):
            varying.append(key)
    return varying


def flatten(settings: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings with dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _chosen(key: str, flat: dict[str, Any]) -> object:
    """The choice that the key is a setting of; what was chosen is itself a setting of nothing."""
    section, _, word = key.rpartition(".")
    if section == "algorithm":
        return flat.get("algorithm.name"), flat.get("algorithm.mixing")
    return None if word == "name" else flat.get(f"{section}.name")


def _inside_nothing(key: str, flat: dict[str, Any]) -> bool:
    sections = key.split(".")[:-1]
    return any(".".join(sections[:depth]) in flat for depth in range(1, len(sections) + 1))


def _part(key: str, value: object) -> str:
    """A choice by its name alone, any other setting by its last word."""
    word = key.rpartition(".")[2]
    if word == "name":
        return str(value)
    return f"data-seed{value}" if key == "data.seed" else f"{word}{value}"


def _clean(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-").lower()
