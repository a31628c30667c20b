"""A list where one value belongs is an axis: ``seed: [0, 1, 2]`` makes three runs of one config."""

import itertools
from collections.abc import Mapping
from typing import Any

from superfed.core.errors import SettingError

WHOLE = ("tracking",)
"""Where a list is no axis: where runs are followed does not say which runs there are."""


def expand(node: Any, path: str = "") -> list[Any]:
    """Every config a tree of settings stands for. Lists may be anywhere, also around whole sections, and inside them."""
    if path in WHOLE:
        return [node]
    if isinstance(node, Mapping):
        parts = [expand(value, f"{path}.{key}" if path else str(key)) for key, value in node.items()]
        return [dict(zip(node, values, strict=True)) for values in itertools.product(*parts)]
    if isinstance(node, list):
        if not node:
            raise SettingError(path or "config", "is an empty list; give at least one value")
        return [one for item in node for one in expand(item, path)]
    return [node]
