"""LEAF's JSON, made small."""

import json
from pathlib import Path
from typing import Any


def shard(samples: dict[str, tuple[list[Any], list[Any]]]) -> dict[str, Any]:
    """The x and y of each user, as LEAF writes them down."""
    return {
        "users": list(samples),
        "num_samples": [len(y) for _, y in samples.values()],
        "user_data": {user: {"x": x, "y": y} for user, (x, y) in samples.items()},
    }


def write_json(path: Path, content: Any) -> Path:
    """``content`` as JSON; bytes and strings are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path
