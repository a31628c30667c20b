"""The command that goes on with what is being made."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote


def command_again(
    target: str,
    changes: Sequence[str],
    scale: str,
    seeds: str | None,
    out: Path,
    only: str | None,
    kept: Path | None,
    data_root: Path | None,
) -> str:
    """As it was given; ``kept`` is where results are kept, if they are."""
    words = ["superfed reproduce", target, *map(quote, changes), f"--scale {scale} --out {quote(str(out))}"]
    words += [] if seeds is None else [f"--seeds {seeds}"]
    words += [] if only is None else [f"--only {quote(only)}"]
    words += [] if kept is None else [f"--keep --kept {quote(str(kept))}"]
    words += [] if data_root is None else [f"--data-root {quote(str(data_root))}"]
    return " ".join(words)
